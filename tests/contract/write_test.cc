#include "contract.h"

// Creating and updating: what every kind has in common.
namespace muster::contract {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_P(Contract, CreateFillsInTheSystemsMetadata) {
  const auto created = create_config_map("a");
  EXPECT_EQ(api::name_of(*created), "a");
  EXPECT_EQ(api::namespace_of(*created), ns());
  EXPECT_EQ(api::uid_of(*created).size(), 36U);
  EXPECT_FALSE(api::resource_version_of(*created).empty());
  EXPECT_TRUE(api::creation_time_of(*created));
  EXPECT_EQ(api::kind_of(*created), "ConfigMap");
  EXPECT_EQ(api::api_version_of(*created), "v1");
}

TEST_P(Contract, GetGivesWhatCreateGave) {
  const auto created = create_config_map("a");
  EXPECT_EQ(*get(api::config_maps(), "a"), *created);
}

TEST_P(Contract, NobodySeesManagedFields) {
  EXPECT_TRUE((*create_config_map("a"))["metadata"]["managedFields"].is_null());
  EXPECT_TRUE((*get(api::config_maps(), "a"))["metadata"]["managedFields"].is_null());
  const auto page = must(cluster().list(api::config_maps(), {.where = {.ns = ns()}}));
  for (const auto& item : page.items) EXPECT_TRUE((*item)["metadata"]["managedFields"].is_null());
}

TEST_P(Contract, TheUrlGivesApiVersionAndKind) {
  Value object = config_map("a");
  object.object().erase("apiVersion");
  object.object().erase("kind");
  EXPECT_EQ(api::kind_of(*must(cluster().create(api::config_maps(), object))), "ConfigMap");
}

TEST_P(Contract, GenerateNameMakesNamesThatDiffer) {
  Value object = config_map("");
  object["metadata"].object().erase("name");
  object["metadata"]["generateName"] = "run-";
  const auto first = must(cluster().create(api::config_maps(), object));
  const auto second = must(cluster().create(api::config_maps(), object));
  EXPECT_THAT(api::name_of(*first), StartsWith("run-"));
  EXPECT_EQ(api::name_of(*first).size(), 9U);
  EXPECT_NE(api::name_of(*first), api::name_of(*second));
}

TEST_P(Contract, CreatingTwiceIsAlreadyExists) {
  create_config_map("a");
  EXPECT_EQ(error_of(cluster().create(api::config_maps(), config_map("a"))),
            ErrorCode::AlreadyExists);
  EXPECT_THAT(last_error_.message, HasSubstr("configmaps \"a\" already exists"));
}

TEST_P(Contract, CreatingWithoutANameIsInvalid) {
  Value object = config_map("a");
  object["metadata"].object().erase("name");
  EXPECT_EQ(error_of(cluster().create(api::config_maps(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("metadata.name"));
}

TEST_P(Contract, ABadNameIsInvalidAndTheFieldIsNamed) {
  EXPECT_EQ(error_of(cluster().create(api::config_maps(), config_map("Not_A_Name"))),
            ErrorCode::Invalid);
  EXPECT_TRUE(blames("metadata.name"));
}

TEST_P(Contract, ABadLabelIsInvalidAndTheFieldIsNamed) {
  Value object = config_map("a");
  object["metadata"]["labels"]["k"] = "not a value!";
  EXPECT_EQ(error_of(cluster().create(api::config_maps(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("metadata.labels"));
}

TEST_P(Contract, AMissingNamespaceIsNotFound) {
  Value object = config_map("a");
  object["metadata"]["namespace"] = unique("nowhere");
  EXPECT_EQ(error_of(cluster().create(api::config_maps(), object)), ErrorCode::NotFound);
}

TEST_P(Contract, WhatIsMissingIsNotFound) {
  EXPECT_EQ(error_of(cluster().get(api::config_maps(), {ns(), "missing"})), ErrorCode::NotFound);
  EXPECT_THAT(last_error_.message, HasSubstr("configmaps \"missing\" not found"));
  EXPECT_EQ(error_of(cluster().update(api::config_maps(), config_map("missing"))),
            ErrorCode::NotFound);
}

TEST_P(Contract, AnUpdateChangesContentAndVersionAndNothingElse) {
  const auto created = create_config_map("a");
  Value changed = *created;
  changed["data"]["key"] = "w";
  changed["metadata"]["labels"]["l"] = "m";
  const auto updated = must(cluster().update(api::config_maps(), changed));
  EXPECT_EQ((*updated)["data"]["key"].as_string(), "w");
  EXPECT_EQ(api::label_of(*updated, "l"), "m");
  EXPECT_NE(api::resource_version_of(*updated), api::resource_version_of(*created));
  EXPECT_EQ(api::uid_of(*updated), api::uid_of(*created));
  EXPECT_EQ((*updated)["metadata"]["creationTimestamp"],
            (*created)["metadata"]["creationTimestamp"]);
  EXPECT_EQ(*get(api::config_maps(), "a"), *updated);
}

TEST_P(Contract, TheCreationTimeCannotBeChanged) {
  const auto created = create_config_map("a");
  Value changed = *created;
  changed["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z";
  changed["data"]["key"] = "w";
  const auto updated = must(cluster().update(api::config_maps(), changed));
  EXPECT_EQ((*updated)["metadata"]["creationTimestamp"],
            (*created)["metadata"]["creationTimestamp"]);
}

TEST_P(Contract, AStaleUpdateIsAConflict) {
  const auto created = create_config_map("a");
  Value first = *created;
  first["data"]["key"] = "first";
  must(cluster().update(api::config_maps(), first));
  Value second = *created;
  second["data"]["key"] = "second";
  EXPECT_EQ(error_of(cluster().update(api::config_maps(), second)), ErrorCode::Conflict);
  EXPECT_EQ((*get(api::config_maps(), "a"))["data"]["key"].as_string(), "first");
}

TEST_P(Contract, AnUpdateOfAnotherObjectOfThatNameIsAConflict) {
  const auto first = create_config_map("a");
  remove(api::config_maps(), "a");
  create_config_map("a");
  Value late = *first;
  late["metadata"].object().erase("resourceVersion");
  late["data"]["key"] = "late";
  EXPECT_EQ(error_of(cluster().update(api::config_maps(), late)), ErrorCode::Conflict);
}

TEST_P(Contract, AnUpdateThatChangesNothingKeepsTheVersionAndIsNoEvent) {
  const auto created = create_config_map("a");
  const auto watch = watch_from_now(api::config_maps());
  EXPECT_EQ(api::resource_version_of(*must(cluster().update(api::config_maps(), *created))),
            api::resource_version_of(*created));
  create_config_map("marker");
  EXPECT_EQ(api::name_of(*next(*watch).object), "marker");
}

TEST_P(Contract, TooMuchDataIsRefused) {
  Value object = config_map("a");
  object["data"]["big"] = std::string(std::size_t{1} << 21U, 'x');
  const ErrorCode code = error_of(cluster().create(api::config_maps(), object));
  EXPECT_TRUE(code == ErrorCode::Invalid || code == ErrorCode::TooLarge) << to_string(code);
  EXPECT_FALSE(exists(api::config_maps(), {ns(), "a"}));
}

TEST_P(Contract, TooLargeAnnotationsAreInvalid) {
  Value object = config_map("a");
  object["metadata"]["annotations"]["big"] = std::string((std::size_t{256} << 10U) + 1, 'x');
  EXPECT_EQ(error_of(cluster().create(api::config_maps(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("metadata.annotations"));
}

TEST_P(Contract, TextSurvivesUnchanged) {
  const std::string text =
      "tab\t newline\n quote\" backslash\\ control\x01 umlaut ä face 😀 line\xE2\x80\xA8separator";
  must(cluster().create(api::config_maps(), config_map("a", text)));
  EXPECT_EQ((*get(api::config_maps(), "a"))["data"]["key"].as_string(), text);
}

TEST_P(Contract, StringDataOfASecretBecomesData) {
  Value secret = config_map("a");
  secret["kind"] = "Secret";
  secret.object().erase("data");
  secret["stringData"]["password"] = "hush";
  const auto created = must(cluster().create(api::secrets(), secret));
  EXPECT_EQ((*created)["data"]["password"].as_string(), "aHVzaA==");
  EXPECT_FALSE(created->as_object().contains("stringData"));
  EXPECT_EQ((*created)["type"].as_string(), "Opaque");
}

TEST_P(Contract, AServiceGetsAnAddressOfItsOwn) {
  const auto first = must(cluster().create(api::services(), service("a")));
  const auto second = must(cluster().create(api::services(), service("b")));
  EXPECT_FALSE((*first)["spec"]["clusterIP"].as_string().empty());
  EXPECT_NE((*first)["spec"]["clusterIP"], (*second)["spec"]["clusterIP"]);
  EXPECT_EQ((*first)["spec"]["ports"][0]["protocol"].as_string(), "TCP");
  EXPECT_EQ((*first)["spec"]["ports"][0]["targetPort"], Value(2222));
}

TEST_P(Contract, AHeadlessServiceStaysWithoutAddress) {
  Value object = service("a");
  object["spec"]["clusterIP"] = "None";
  EXPECT_EQ((*must(cluster().create(api::services(), object)))["spec"]["clusterIP"].as_string(),
            "None");
}

TEST_P(Contract, AServiceWithABadPortIsInvalidAndThePathIsNamed) {
  Value object = service("a");
  object["spec"]["ports"].array()[0]["port"] = 70000;
  EXPECT_EQ(error_of(cluster().create(api::services(), object)), ErrorCode::Invalid);
  EXPECT_TRUE(blames("spec.ports[0].port"));
}

TEST_P(Contract, AnEventIsStored) {
  Value event = json::Object{{"apiVersion", "v1"}, {"kind", "Event"}};
  event["metadata"]["name"] = "a.1";
  event["metadata"]["namespace"] = ns();
  event["involvedObject"] =
      json::Object{{"kind", "Pod"}, {"namespace", ns()}, {"name", "a"}, {"uid", "u-1"}};
  event["reason"] = "Started";
  event["message"] = "it runs";
  event["type"] = "Normal";
  must(cluster().create(api::events(), event));
  EXPECT_EQ(
      list_names(api::events(), {.ns = ns(), .fields = "involvedObject.uid=u-1,reason=Started"}),
      std::vector<std::string>{"a.1"});
}

}  // namespace
}  // namespace muster::contract
