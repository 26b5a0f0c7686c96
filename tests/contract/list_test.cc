#include "contract.h"

// Listing: pages, selectors, versions.
namespace muster::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ContractList : public Contract {
 protected:
  void create_labelled(const std::string& name, const std::string& role) {
    Value object = config_map(name);
    object["metadata"]["labels"]["app"] = ns();
    if (!role.empty()) object["metadata"]["labels"]["role"] = role;
    must(cluster().create(api::config_maps(), object));
  }
  std::vector<std::string> select(const std::string& labels) {
    return list_names(api::config_maps(),
                      {.ns = ns(), .labels = "app=" + ns() + (labels.empty() ? "" : "," + labels)});
  }
};

RUN_ON_EVERY_CLUSTER(ContractList);

TEST_P(ContractList, LabelSelectorsOfEveryForm) {
  create_labelled("a", "worker");
  create_labelled("b", "ps");
  create_labelled("c", "");
  EXPECT_THAT(select(""), ElementsAre("a", "b", "c"));
  EXPECT_THAT(select("role=worker"), ElementsAre("a"));
  EXPECT_THAT(select("role==ps"), ElementsAre("b"));
  EXPECT_THAT(select("role!=worker"), ElementsAre("b", "c"));
  EXPECT_THAT(select("role in (worker,ps)"), ElementsAre("a", "b"));
  EXPECT_THAT(select("role notin (worker)"), ElementsAre("b", "c"));
  EXPECT_THAT(select("role"), ElementsAre("a", "b"));
  EXPECT_THAT(select("!role"), ElementsAre("c"));
}

TEST_P(ContractList, OnlyTheNamespaceThatWasAskedFor) {
  create_labelled("a", "");
  EXPECT_THAT(list_names(api::config_maps(), {.ns = "kube-system", .labels = "app=" + ns()}),
              IsEmpty());
  EXPECT_THAT(list_names(api::config_maps(), {.labels = "app=" + ns()}), ElementsAre("a"));
}

TEST_P(ContractList, PagesHoldEveryObjectOnceAtOneVersion) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) create_labelled(name, "");
  ListOptions options{.where = {.ns = ns(), .labels = "app=" + ns()}, .limit = 3};
  const auto first = must(cluster().list(api::config_maps(), options));
  ASSERT_EQ(first.items.size(), 3U);
  ASSERT_FALSE(first.continue_token.empty());
  create_labelled("bb", "");  // after the first page: not part of this list
  std::vector<std::string> names;
  for (const auto& item : first.items) names.push_back(api::name_of(*item));
  options.continue_token = first.continue_token;
  while (!options.continue_token.empty()) {
    const auto page = must(cluster().list(api::config_maps(), options));
    EXPECT_EQ(page.resource_version, first.resource_version);
    EXPECT_LE(page.items.size(), 3U);
    for (const auto& item : page.items) names.push_back(api::name_of(*item));
    options.continue_token = page.continue_token;
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e", "f", "g"));
}

TEST_P(ContractList, GoesOnInPagesOfAnotherSize) {
  for (const char* name : {"a", "b", "c", "d", "e"}) create_labelled(name, "");
  ListOptions options{.where = {.ns = ns(), .labels = "app=" + ns()}, .limit = 2};
  std::vector<std::string> names;
  for (const int limit : {2, 1, 500}) {
    options.limit = limit;
    const auto page = must(cluster().list(api::config_maps(), options));
    EXPECT_LE(page.items.size(), static_cast<std::size_t>(limit));
    for (const auto& item : page.items) names.push_back(api::name_of(*item));
    options.continue_token = page.continue_token;
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(options.continue_token, "");
}

TEST_P(ContractList, FieldSelectorByName) {
  create_labelled("a", "");
  create_labelled("b", "");
  EXPECT_THAT(list_names(api::config_maps(), {.ns = ns(), .fields = "metadata.name=b"}),
              ElementsAre("b"));
}

TEST_P(ContractList, FieldSelectorsOfPods) {
  const std::string node = make_node();
  const auto bound = create_pod("bound");
  create_pod("free");
  must(cluster().bind({ns(), "bound"}, api::uid_of(*bound), node));
  EXPECT_THAT(list_names(api::pods(), {.fields = "spec.nodeName=" + node}), ElementsAre("bound"));
  EXPECT_THAT(list_names(api::pods(), {.ns = ns(), .fields = "spec.nodeName="}),
              ElementsAre("free"));
  EXPECT_THAT(list_names(api::pods(), {.ns = ns(), .fields = "status.phase=Pending"}),
              ElementsAre("bound", "free"));
  EXPECT_THAT(list_names(api::pods(), {.ns = ns(), .fields = "status.phase!=Pending"}), IsEmpty());
}

TEST_P(ContractList, SelectorsThatMakeNoSenseAreBadRequests) {
  EXPECT_EQ(
      error_of(cluster().list(api::config_maps(), {.where = {.ns = ns(), .labels = "a in b"}})),
      ErrorCode::BadRequest);
  EXPECT_EQ(
      error_of(cluster().list(api::config_maps(), {.where = {.ns = ns(), .fields = "data.key=v"}})),
      ErrorCode::BadRequest);
}

TEST_P(ContractList, ItemsSayWhatTheyAre) {
  create_labelled("a", "");
  const auto page =
      must(cluster().list(api::config_maps(), {.where = {.ns = ns(), .labels = "app=" + ns()}}));
  ASSERT_EQ(page.items.size(), 1U);
  EXPECT_EQ(*page.items[0], *get(api::config_maps(), "a"));
}

TEST_P(ContractList, TheVersionOfAListIsNotOlderThanItsItems) {
  create_labelled("a", "");
  const auto page = must(cluster().list(api::config_maps(), {.where = {.ns = ns()}}));
  for (const auto& item : page.items) {
    EXPECT_GE(std::stoll(page.resource_version), std::stoll(api::resource_version_of(*item)));
  }
}

TEST_P(ContractList, ATokenThatIsNoTokenIsRefused) {
  EXPECT_EQ(error_of(cluster().list(api::config_maps(),
                                    {.where = {.ns = ns()}, .continue_token = "nonsense"})),
            ErrorCode::BadRequest);
}

TEST_P(ContractList, ANamespaceThatDoesNotExistIsEmpty) {
  EXPECT_THAT(list_names(api::config_maps(), {.ns = unique("nowhere")}), IsEmpty());
}

}  // namespace
}  // namespace muster::contract
