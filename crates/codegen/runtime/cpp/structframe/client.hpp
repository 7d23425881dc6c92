// Talking: subscriptions, and requests that wait for their response. Part of structframe.hpp.
#ifndef STRUCTFRAME_CLIENT_HPP
#define STRUCTFRAME_CLIENT_HPP

#include <cstddef>
#include <cstdint>
#include <new>

#include "reader.hpp"

namespace structframe {

// What a client needs from the outside.
struct Transport {
    virtual ~Transport() = default;
    // Sends all bytes; false when it cannot.
    virtual bool send(const std::uint8_t* data, std::size_t length) = 0;
    // Waits up to `timeout_ms` for bytes: their number, 0 when none came, negative when closed.
    virtual std::ptrdiff_t receive(std::uint8_t* data, std::size_t capacity, std::uint32_t timeout_ms) = 0;
    // A clock in milliseconds that may wrap around.
    virtual std::uint32_t now_ms() = 0;
};

namespace detail {

// Something that can be called with an event, kept in place.
class Handler {
public:
    // Room for what a lambda captures.
    static constexpr std::size_t room = 16 * sizeof(void*);

    Handler() = default;
    template <class Of>
    Handler(Of of) : Handler() {
        static_assert(sizeof(Of) <= room, "the handler captures too much: capture a pointer or a reference instead");
        static_assert(alignof(Of) <= alignof(std::max_align_t), "the handler is aligned too much");
        new (place_) Of(static_cast<Of&&>(of));
        call_ = [](void* place, const Event& event) { (*static_cast<Of*>(place))(event); };
        move_ = [](void* from, void* to) {
            if (to != nullptr) {
                new (to) Of(static_cast<Of&&>(*static_cast<Of*>(from)));
            }
            static_cast<Of*>(from)->~Of();
        };
    }
    Handler(Handler&& other) noexcept { take(other); }
    Handler& operator=(Handler&& other) noexcept {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;
    ~Handler() { clear(); }

    explicit operator bool() const { return call_ != nullptr; }
    void operator()(const Event& event) { call_(place_, event); }

private:
    void take(Handler& other) {
        call_ = other.call_;
        move_ = other.move_;
        if (move_ != nullptr) {
            move_(other.place_, place_);
        }
        other.call_ = nullptr;
        other.move_ = nullptr;
    }
    void clear() {
        if (move_ != nullptr) {
            move_(place_, nullptr);
        }
        call_ = nullptr;
        move_ = nullptr;
    }

    alignas(std::max_align_t) unsigned char place_[room];
    void (*call_)(void*, const Event&) = nullptr;
    void (*move_)(void*, void*) = nullptr;  // to another place, or to none
};

}  // namespace detail

// Sends and receives messages. Room: bytes for received frames (see Stream), for a frame to be sent, and subscriptions.
// Handlers must not throw, and must not poll or request. They are kept in place: what they capture is limited.
template <std::size_t In = 8192, std::size_t Out = 8192, std::size_t Subscriptions = 32>
class Client {
public:
    using Handler = detail::Handler;

    Client(Transport& transport, Framing framing, Lookup lookup)
        : transport_(transport), framing_(framing), stream_(framing, lookup) {}

    // Of the next frame; the sequence number is counted up.
    Header header;

    Framing framing() const { return framing_; }
    const Counters& counters() const { return stream_.counters(); }

    // Calls `handler` for every good frame with this id. The place, for `unsubscribe`; nothing when all are taken.
    Optional<std::size_t> subscribe_id(std::uint16_t id, Handler handler) {
        for (std::size_t i = 0; i < Subscriptions; i++) {
            if (!subscriptions_[i].handler) {
                subscriptions_[i] = {id, static_cast<Handler&&>(handler)};
                return i;
            }
        }
        return {};
    }

    // Calls `handler(const Message&)` for every message of this type that can be decoded.
    template <class Message, class F>
    Optional<std::size_t> subscribe(F handler) {
        return subscribe_id(Codec<Message>::info.id, [this, handler](const Event& frame) mutable {
            Message message;
            if (read(message, framing_, frame) == Status::Ok) {
                handler(message);
            }
        });
    }

    // Ends a subscription, also from inside its own handler.
    void unsubscribe(std::size_t place) {
        if (place >= Subscriptions) {
            return;
        }
        // What is being called must not be destroyed yet.
        if (place == calling_) {
            subscriptions_[place].ended = true;
        } else {
            subscriptions_[place] = {};
        }
    }

    // Sends a message.
    template <class Message>
    [[nodiscard]] Status send(const Message& message) {
        const auto written = write(message, framing_, header, out_.data(), out_.size());
        if (!written) {
            return written.status;
        }
        if (!transport_.send(out_.data(), written.length)) {
            return Status::NotSent;
        }
        header.sequence = static_cast<std::uint8_t>(header.sequence + 1u);
        return Status::Ok;
    }

    // Receives once for up to `timeout_ms`, and dispatches. Status::Timeout when nothing came.
    Status poll(std::uint32_t timeout_ms) {
        Array<std::uint8_t, 256> chunk;
        const auto received = transport_.receive(chunk.data(), chunk.size(), timeout_ms);
        if (received < 0) {
            return Status::Closed;
        }
        if (received == 0) {
            return Status::Timeout;
        }
        const auto length = detail::least(static_cast<std::size_t>(received), chunk.size());
        stream_.feed(chunk.data(), length, [this](const Event& event) { dispatch(event); });
        return Status::Ok;
    }

    // Sends a message and waits until a response comes for which `accept(const Response&)` is true. Subscribers are served
    // meanwhile. One request at a time.
    template <class Response, class Request, class Accept>
    [[nodiscard]] Status request(const Request& message, Response& response, std::uint32_t timeout_ms, Accept accept) {
        const auto begin = transport_.now_ms();
        if (const auto status = send(message); status != Status::Ok) {
            return status;
        }
        Waiting<Response, Accept> waiting(framing_, response, accept);
        waiting_ = &waiting;
        auto status = Status::Ok;
        while (!waiting.done && status != Status::Closed) {
            const auto passed = transport_.now_ms() - begin;
            if (passed >= timeout_ms) {
                status = Status::Timeout;
                break;
            }
            status = poll(timeout_ms - passed);
        }
        waiting_ = nullptr;
        return waiting.done ? Status::Ok : status;
    }
    template <class Response, class Request>
    [[nodiscard]] Status request(const Request& message, Response& response, std::uint32_t timeout_ms) {
        return request(message, response, timeout_ms, [](const Response&) { return true; });
    }

private:
    static constexpr std::size_t nobody = Subscriptions;

    struct Subscription {
        std::uint16_t id = 0;
        Handler handler;
        bool ended = false;
    };

    // Who waits for a response.
    struct Pending {
        bool done = false;
        virtual void take(const Event& frame) = 0;

    protected:
        ~Pending() = default;
    };

    template <class Response, class Accept>
    struct Waiting final : Pending {
        Waiting(Framing framing, Response& response, Accept& accept)
            : framing_(framing), response_(response), accept_(accept) {}

        void take(const Event& frame) override {
            Response candidate;
            // A message that cannot be decoded is no response; the request goes on waiting.
            if (!this->done && read(candidate, framing_, frame) == Status::Ok && accept_(static_cast<const Response&>(candidate))) {
                response_ = candidate;
                this->done = true;
            }
        }

    private:
        Framing framing_;
        Response& response_;
        Accept& accept_;
    };

    void dispatch(const Event& event) {
        if (event.kind != EventKind::Frame) {
            return;
        }
        if (waiting_ != nullptr) {
            waiting_->take(event);
        }
        for (std::size_t place = 0; place < Subscriptions; place++) {
            auto& subscription = subscriptions_[place];
            if (subscription.handler && subscription.id == event.id) {
                calling_ = place;
                subscription.handler(event);
                calling_ = nobody;
                if (subscription.ended) {
                    subscription = {};
                }
            }
        }
    }

    Transport& transport_;
    Framing framing_;
    Stream<In> stream_;
    Array<std::uint8_t, Out> out_{};
    Array<Subscription, Subscriptions> subscriptions_{};
    Pending* waiting_ = nullptr;
    std::size_t calling_ = nobody;
};

}  // namespace structframe

#endif
