/* What a program on QEMU's mps2-an386 (a Cortex-M4) needs: vectors, a counter, a line of output, and an end. */
#include <stddef.h>
#include <stdint.h>

extern uint32_t stack_top;
int main(void);

static void call(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void print(const char *text) { call(4, text); }

void reset(void) {
    main();
    call(0x18, (const void *)0x20026);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {&stack_top, (const void *)reset};

#define SYST_CSR (*(volatile uint32_t *)0xe000e010)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018)

/* Starts the counter, which counts down from its largest value. */
void start(void) {
    SYST_RVR = 0xffffff;
    SYST_CVR = 0;
    SYST_CSR = 5;
}

/* Prints the ticks since start() under a name. */
void stop(const char *name) {
    uint32_t ticks = 0xffffff - SYST_CVR;
    char text[12];
    char *at = text + sizeof text - 1;
    *at = '\0';
    *--at = '\n';
    do {
        *--at = (char)('0' + ticks % 10);
        ticks /= 10;
    } while (ticks > 0);
    print(name);
    print(" ");
    print(at);
}
