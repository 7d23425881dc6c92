/* A robot and an operator, each a process of its own, over TCP on the loopback. */
#define _POSIX_C_SOURCE 200809L

#include "robot.structframe.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The transport: a socket ---------------------------------------------------------------------------------- */

static bool socket_send(void *context, const uint8_t *data, size_t length) {
    int file = *(int *)context;
    while (length > 0) {
        ssize_t sent = write(file, data, length);
        if (sent <= 0) {
            return false;
        }
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

static long socket_receive(void *context, uint8_t *data, size_t capacity, uint32_t timeout_ms) {
    struct pollfd wait = {*(int *)context, POLLIN, 0};
    ssize_t received;
    if (poll(&wait, 1, (int)timeout_ms) <= 0) {
        return 0;
    }
    received = read(wait.fd, data, capacity);
    return received > 0 ? (long)received : -1;
}

static uint32_t now_ms(void *context) {
    struct timespec now;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_sec * 1000u + (uint32_t)(now.tv_nsec / 1000000);
}

static void client_on(SfClient *client, int *file) {
    static uint8_t in[2048];
    static uint8_t out[1024];
    SfTransport transport = {file, socket_send, socket_receive, now_ms};
    sf_client_init(client, transport, SF_STANDARD, &Robot_lookup, in, sizeof in, out, sizeof out);
}

/* ---- The robot ------------------------------------------------------------------------------------------------ */

static void on_command(void *context, SfClient *client, const SfEvent *frame) {
    RobotTelemetry *state = (RobotTelemetry *)context;
    RobotCommand command;
    RobotAcknowledge answer;
    if (RobotCommand_read(&command, client->framing, frame) != SF_OK) {
        return;
    }
    RobotAcknowledge_init(&answer);
    answer.sequence = command.sequence;
    switch (command.order.tag) {
    case ROBOT_COMMAND_ORDER_GO_TO:
        state->mode = ROBOT_MODE_AUTOMATIC;
        answer.accepted = SF_SET_TEXT(answer.note, "on my way");
        break;
    case ROBOT_COMMAND_ORDER_HALT: {
        char note[80];
        const RobotHalt *halt = &command.order.as.halt;
        state->mode = ROBOT_MODE_IDLE;
        snprintf(note, sizeof note, "stopped: %.*s", (int)halt->reason.length, halt->reason.data);
        answer.accepted = SF_SET_TEXT(answer.note, note);
        break;
    }
    default:
        answer.accepted = !SF_SET_TEXT(answer.note, "unknown order");
        break;
    }
    (void)sf_client_send(client, &RobotAcknowledge_type, &answer);
}

static int robot(int file) {
    SfClient client;
    SfSubscription commands;
    RobotTelemetry state;
    uint32_t sent;
    client_on(&client, &file);
    RobotTelemetry_init(&state);
    sf_client_subscribe(&client, &commands, ROBOT_COMMAND_MSG_ID, on_command, &state);
    sent = now_ms(NULL);
    for (;;) {
        /* The operator hangs up when it has seen enough. */
        if (sf_client_poll(&client, 20) == SF_CLOSED) {
            return 0;
        }
        if (now_ms(NULL) - sent >= 100) {
            sent += 100;
            state.time_us += 100000;
            state.position.x += state.mode == ROBOT_MODE_AUTOMATIC ? 0.3f : 0.0f;
            state.ranges_mm.count = 2;
            state.ranges_mm.items[0] = 1200;
            state.ranges_mm.items[1] = 950;
            (void)sf_client_send(&client, &RobotTelemetry_type, &state);
        }
    }
}

/* ---- The operator --------------------------------------------------------------------------------------------- */

static void on_telemetry(void *context, SfClient *client, const SfEvent *frame) {
    RobotTelemetry telemetry;
    (void)context;
    if (RobotTelemetry_read(&telemetry, client->framing, frame) == SF_OK) {
        printf("telemetry: %s at x = %.1f m, %.1f V, %u ranges\n", RobotMode_name(telemetry.mode),
               (double)telemetry.position.x, (double)telemetry.battery_volts, telemetry.ranges_mm.count);
    }
}

static bool same_sequence(void *context, const void *response) {
    return ((const RobotAcknowledge *)response)->sequence == *(const uint32_t *)context;
}

static bool order(SfClient *client, const char *what, const RobotCommand *command) {
    RobotAcknowledge answer;
    uint32_t sequence = command->sequence;
    SfStatus status = sf_client_request(client, &RobotCommand_type, command, &RobotAcknowledge_type, &answer,
                                        same_sequence, &sequence, 1000);
    if (status != SF_OK) {
        printf("%s: %s\n", what, sf_status_name(status));
        return false;
    }
    printf("%s: %s, \"%.*s\"\n", what, answer.accepted ? "accepted" : "refused", (int)answer.note.length,
           answer.note.data);
    return true;
}

static int operate(int file) {
    SfClient client;
    SfSubscription telemetry;
    RobotCommand command;
    RobotGoTo go_to;
    RobotHalt halt;
    uint32_t begin;
    client_on(&client, &file);
    sf_client_subscribe(&client, &telemetry, ROBOT_TELEMETRY_MSG_ID, on_telemetry, NULL);

    RobotCommand_init(&command);
    RobotGoTo_init(&go_to);
    command.sequence = 1;
    go_to.target.x = 3.0f;
    go_to.target.y = 4.0f;
    RobotCommand_set_order_go_to(&command, &go_to);
    if (!order(&client, "go to (3.0, 4.0, 0.0)", &command)) {
        return 1;
    }
    for (begin = now_ms(NULL); now_ms(NULL) - begin < 400;) {
        if (sf_client_poll(&client, 50) == SF_CLOSED) {
            return 1;
        }
    }
    RobotHalt_init(&halt);
    command.sequence = 2;
    if (!SF_SET_TEXT(halt.reason, "tea time")) {
        return 1;
    }
    RobotCommand_set_order_halt(&command, &halt);
    return order(&client, "halt", &command) ? 0 : 1;
}

int main(void) {
    struct sockaddr_in address = {0};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pid_t child;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0) {
        perror("listen");
        return 1;
    }
    child = fork();
    if (child == 0) {
        int file = accept(listener, NULL, NULL);
        close(listener);
        exit(file < 0 ? 1 : robot(file));
    }
    {
        int file = socket(AF_INET, SOCK_STREAM, 0);
        int outcome;
        if (child < 0 || connect(file, (struct sockaddr *)&address, length) != 0) {
            perror("connect");
            return 1;
        }
        outcome = operate(file);
        close(file);
        waitpid(child, NULL, 0);
        return outcome;
    }
}
