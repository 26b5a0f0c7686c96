#include "cli/completion/scripts.h"

namespace muster::cli {
namespace {

constexpr std::string_view kBash =
    R"script(# muster completion bash; in ~/.bashrc: eval "$(muster completion bash)"
_muster() {
  local word meaning
  COMPREPLY=()
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == :files ]]; then compopt -o default 2>/dev/null; else COMPREPLY+=("$word"); fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _muster muster
)script";

constexpr std::string_view kZsh = R"script(#compdef muster
# muster completion zsh; in ~/.zshrc, behind compinit: eval "$(muster completion zsh)"
_muster() {
  local -a found
  local word meaning files
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == :files ]]; then
      files=yes
    else
      found+=("${word//:/\\:}${meaning:+:$meaning}")
    fi
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  [[ -n $files ]] && _files
  (( $#found )) && _describe muster found
}
if [[ ${funcstack[1]} == _muster ]]; then _muster "$@"; else compdef _muster muster; fi
)script";

constexpr std::string_view kFish =
    R"script(# muster completion fish; in config.fish: muster completion fish | source
function __muster_complete
    set -l words (commandline -opc)
    set -a words (commandline -ct | string collect --allow-empty)
    for line in (command $words[1] __complete $words[2..-1] 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c muster -f -a '(__muster_complete)'
)script";

}  // namespace

std::string_view completion_script(std::string_view shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return kFish;
}

}  // namespace muster::cli
