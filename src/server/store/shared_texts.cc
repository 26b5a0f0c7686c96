#include "server/store/shared_texts.h"

#include <algorithm>
#include <vector>

namespace muster::server {

struct SharedTexts::Text {
  Text(SharedTexts& in, ObjectPtr of, std::optional<Key> by, std::string with)
      : all(in), object(std::move(of)), key(by), text(std::move(with)) {
    all.bytes_ += text.size();
    place = all.oldest_first_.insert(all.oldest_first_.end(), this);
    if (key) all.by_object_[*key] = this;
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() {
    all.bytes_ -= text.size();
    all.oldest_first_.erase(place);
    if (key) all.by_object_.erase(*key);
  }

  SharedTexts& all;
  ObjectPtr object;  // held, so that its address stays its own
  std::optional<Key> key;
  std::string text;
  std::vector<std::stop_source*> senders;
  bool given_up = false;
  std::list<Text*>::iterator place;
  std::weak_ptr<Text> self;
};

std::shared_ptr<SharedTexts::Text> SharedTexts::find_or_write(
    const ObjectPtr& object, EventType type, const std::function<std::string()>& write) {
  const Key key{object.get(), type};
  if (const auto found = by_object_.find(key); found != by_object_.end()) {
    if (auto text = found->second->self.lock(); text && !text->given_up) return text;
    found->second->key.reset();  // its senders are about to end
    by_object_.erase(found);
  }
  return add(object, key, write());
}

std::shared_ptr<SharedTexts::Text> SharedTexts::add(ObjectPtr object, std::optional<Key> key,
                                                    std::string text) {
  auto made = std::make_shared<Text>(*this, std::move(object), key, std::move(text));
  made->self = made;
  stop_the_slowest(*made);
  return made;
}

void SharedTexts::stop_the_slowest(const Text& newest) {
  std::size_t left = bytes_;
  for (const Text* text : oldest_first_) {
    if (text->given_up) left -= text->text.size();
  }
  for (Text* text : oldest_first_) {
    if (left <= max_ || text == &newest) return;
    if (text->given_up) continue;
    text->given_up = true;
    left -= text->text.size();
    for (std::stop_source* sender : text->senders) sender->request_stop();
  }
}

SharedTexts::Sending::Sending(SharedTexts& all, const WatchEvent& event,
                              const std::function<std::string()>& write)
    : text_(all.find_or_write(event.object, event.type, write)) {
  text_->senders.push_back(&stop_);
}

SharedTexts::Sending::Sending(SharedTexts& all, std::string text)
    : text_(all.add(nullptr, std::nullopt, std::move(text))) {
  text_->senders.push_back(&stop_);
}

SharedTexts::Sending::~Sending() {
  std::erase(text_->senders, &stop_);
}

std::string_view SharedTexts::Sending::text() const {
  return text_->text;
}

}  // namespace muster::server
