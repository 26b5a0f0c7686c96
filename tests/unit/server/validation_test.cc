#include "support.h"

namespace muster::server {
namespace {

using ValidationTest = ServerTest;

struct Case {
  const char* why;
  const char* spec;
  const char* field;
  const char* reason;
};

TEST_F(ValidationTest, PodsThatAreRefused) {
  const Case cases[] = {
      {"no containers", R"({"containers":[]})", "spec.containers", "FieldValueRequired"},
      {"containers is no list", R"({"containers":{}})", "spec.containers", "FieldValueInvalid"},
      {"no spec", R"(7)", "spec", "FieldValueInvalid"},
      {"no name", R"({"containers":[{"image":"i"}]})", "spec.containers[0].name",
       "FieldValueRequired"},
      {"bad name", R"({"containers":[{"name":"A_b","image":"i"}]})", "spec.containers[0].name",
       "FieldValueInvalid"},
      {"no image", R"({"containers":[{"name":"c"}]})", "spec.containers[0].image",
       "FieldValueRequired"},
      {"same name", R"({"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]})",
       "spec.containers[1].name", "FieldValueDuplicate"},
      {"same name as init", R"({"containers":[{"name":"c","image":"i"}],
        "initContainers":[{"name":"c","image":"i"}]})",
       "spec.initContainers[0].name", "FieldValueDuplicate"},
      {"port range",
       R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":70000}]}]})",
       "spec.containers[0].ports[0].containerPort", "FieldValueInvalid"},
      {"port missing", R"({"containers":[{"name":"c","image":"i","ports":[{"name":"p"}]}]})",
       "spec.containers[0].ports[0].containerPort", "FieldValueRequired"},
      {"port name",
       R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"name":"way-too-long-port-name"}]}]})",
       "spec.containers[0].ports[0].name", "FieldValueInvalid"},
      {"protocol",
       R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"protocol":"tcp"}]}]})",
       "spec.containers[0].ports[0].protocol", "FieldValueNotSupported"},
      {"env name", R"({"containers":[{"name":"c","image":"i","env":[{"name":"a=b"}]}]})",
       "spec.containers[0].env[0].name", "FieldValueInvalid"},
      {"env value type",
       R"({"containers":[{"name":"c","image":"i","env":[{"name":"a","value":1}]}]})",
       "spec.containers[0].env[0].value", "FieldValueInvalid"},
      {"argument type", R"({"containers":[{"name":"c","image":"i","args":[1]}]})",
       "spec.containers[0].args[0]", "FieldValueInvalid"},
      {"quantity",
       R"({"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"many"}}}]})",
       "spec.containers[0].resources.limits[cpu]", "FieldValueInvalid"},
      {"request over limit",
       R"({"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}}]})",
       "spec.containers[0].resources.requests", "FieldValueInvalid"},
      {"mount without volume",
       R"({"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]})",
       "spec.containers[0].volumeMounts[0].name", "FieldValueNotFound"},
      {"mount without path",
       R"({"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v"}]}]})",
       "spec.containers[0].volumeMounts[0].mountPath", "FieldValueRequired"},
      {"two mounts at a path",
       R"({"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/a"},{"name":"v","mountPath":"/a"}]}]})",
       "spec.containers[0].volumeMounts[1].mountPath", "FieldValueInvalid"},
      {"sub path out",
       R"({"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/a","subPath":"../x"}]}]})",
       "spec.containers[0].volumeMounts[0].subPath", "FieldValueInvalid"},
      {"same volume",
       R"({"volumes":[{"name":"v"},{"name":"v"}],"containers":[{"name":"c","image":"i"}]})",
       "spec.volumes[1].name", "FieldValueDuplicate"},
      {"two sources",
       R"({"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/x"}}],"containers":[{"name":"c","image":"i"}]})",
       "spec.volumes[0]", "FieldValueForbidden"},
      {"secret without name",
       R"({"volumes":[{"name":"v","secret":{}}],"containers":[{"name":"c","image":"i"}]})",
       "spec.volumes[0].secret.secretName", "FieldValueRequired"},
      {"restart policy", R"({"restartPolicy":"Sometimes","containers":[{"name":"c","image":"i"}]})",
       "spec.restartPolicy", "FieldValueNotSupported"},
      {"negative grace",
       R"({"terminationGracePeriodSeconds":-1,"containers":[{"name":"c","image":"i"}]})",
       "spec.terminationGracePeriodSeconds", "FieldValueInvalid"},
      {"deadline", R"({"activeDeadlineSeconds":0,"containers":[{"name":"c","image":"i"}]})",
       "spec.activeDeadlineSeconds", "FieldValueInvalid"},
      {"deadline of centuries",
       R"({"activeDeadlineSeconds":9999999999,"containers":[{"name":"c","image":"i"}]})",
       "spec.activeDeadlineSeconds", "FieldValueInvalid"},
  };
  for (const Case& each : cases) {
    json::Value asked;
    asked["metadata"]["name"] = "p";
    asked["metadata"]["namespace"] = "default";
    asked["spec"] = parse(each.spec);
    const auto refused = create(api::pods(), asked);
    ASSERT_FALSE(refused) << each.why;
    EXPECT_EQ(refused.error().code, ErrorCode::Invalid) << each.why;
    ASSERT_FALSE(refused.error().causes.empty()) << each.why;
    EXPECT_EQ(refused.error().causes[0].field, each.field) << each.why;
    EXPECT_EQ(refused.error().causes[0].reason, each.reason) << each.why;
    EXPECT_TRUE(refused.error().message.starts_with("Pod \"p\" is invalid: ")) << each.why;
  }
  EXPECT_TRUE(list(api::pods())->items.empty());
}

TEST_F(ValidationTest, ServicesThatAreRefused) {
  const Case cases[] = {
      {"no ports", R"({})", "spec.ports", "FieldValueRequired"},
      {"port range", R"({"ports":[{"port":0}]})", "spec.ports[0].port", "FieldValueInvalid"},
      {"unnamed of two", R"({"ports":[{"port":1},{"port":2,"name":"b"}]})", "spec.ports[0].name",
       "FieldValueRequired"},
      {"same name", R"({"ports":[{"port":1,"name":"b"},{"port":2,"name":"b"}]})",
       "spec.ports[1].name", "FieldValueDuplicate"},
      {"type", R"({"type":"Magic","ports":[{"port":1}]})", "spec.type", "FieldValueNotSupported"},
      {"address out of range", R"({"clusterIP":"10.1.2.3","ports":[{"port":1}]})", "spec.clusterIP",
       "FieldValueInvalid"},
      {"address is none", R"({"clusterIP":"nonsense","ports":[{"port":1}]})", "spec.clusterIP",
       "FieldValueInvalid"},
  };
  for (const Case& each : cases) {
    json::Value asked;
    asked["metadata"]["name"] = "s";
    asked["metadata"]["namespace"] = "default";
    asked["spec"] = parse(each.spec);
    const auto refused = create(api::services(), asked);
    ASSERT_FALSE(refused) << each.why;
    ASSERT_FALSE(refused.error().causes.empty()) << each.why;
    EXPECT_EQ(refused.error().causes[0].field, each.field) << each.why;
    EXPECT_EQ(refused.error().causes[0].reason, each.reason) << each.why;
  }
}

TEST_F(ValidationTest, MetadataThatIsRefused) {
  const auto refuse = [&](const char* metadata, const char* field) {
    json::Value asked;
    asked["metadata"] = parse(metadata);
    asked["metadata"]["namespace"] = "default";
    const auto refused = create(api::config_maps(), asked);
    ASSERT_FALSE(refused) << metadata;
    ASSERT_FALSE(refused.error().causes.empty()) << refused.error().message;
    EXPECT_EQ(refused.error().causes[0].field, field) << metadata;
  };
  refuse(R"({})", "metadata.name");
  refuse(R"({"name":"A"})", "metadata.name");
  refuse(R"({"name":"../etc"})", "metadata.name");
  refuse(R"({"name":"a","labels":{"-x":"y"}})", "metadata.labels");
  refuse(R"({"name":"a","labels":{"x":"sp ace"}})", "metadata.labels");
  refuse(R"({"name":"a","labels":{"x":1}})", "metadata.labels[x]");
  refuse(R"({"name":"a","labels":"x"})", "metadata.labels");
  refuse(R"({"name":"a","annotations":{"x":{}}})", "metadata.annotations[x]");
  refuse(R"({"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"}]})",
         "metadata.ownerReferences[0].uid");
  json::Value asked = config_map("a");
  asked["metadata"]["annotations"]["big"] = std::string(300'000, 'x');
  EXPECT_EQ(create(api::config_maps(), asked).error().causes.at(0).field, "metadata.annotations");
}

}  // namespace
}  // namespace muster::server
