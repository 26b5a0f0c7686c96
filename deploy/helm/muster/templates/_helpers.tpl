{{- /* The names of the kinds that are asked for, all when none is; a name that the chart does not know ends it. */}}
{{- define "muster.kinds" -}}
{{- $known := .Files.Get "files/kinds.yaml" | fromYaml -}}
{{- range .Values.kinds }}
{{- if not (hasKey $known .) }}
{{- fail (printf "kinds: %q is none of: %s" . (keys $known | sortAlpha | join ", ")) }}
{{- end }}
{{- end }}
{{- .Values.kinds | default (keys $known) | sortAlpha | toYaml }}
{{- end }}

{{- /* The operator's rules without the jobs of kinds that are not asked for. */}}
{{- define "muster.rules" -}}
{{- $known := .Files.Get "files/kinds.yaml" | fromYaml -}}
{{- $wanted := include "muster.kinds" . | fromYamlArray -}}
{{- $rules := list -}}
{{- range (.Files.Get "files/rules.yaml" | fromYaml).rules }}
{{- $rule := . -}}
{{- $resources := list -}}
{{- range $resource := .resources }}
{{- $kind := printf "%s.%s" (splitList "/" $resource | first) (first $rule.apiGroups) -}}
{{- if or (not (hasKey $known $kind)) (has $kind $wanted) }}
{{- $resources = append $resources $resource }}
{{- end }}
{{- end }}
{{- if $resources }}
{{- $rules = append $rules (merge (dict "resources" $resources) $rule) }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{- define "muster.labels" -}}
app.kubernetes.io/name: muster-operator
{{- end }}
