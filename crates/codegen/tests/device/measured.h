/* Ticks of 10 000 frames: written, parsed as a whole, read byte by byte as an interrupt gets them; and whether what was
   read is what was written. */
#ifdef __cplusplus
extern "C" {
#endif
void print(const char *text);
void start(void);
void stop(const char *name);
#ifdef __cplusplus
}
#endif

enum { FRAMES = 10000 };

int main(void) {
    imu.time_us = 7;
    imu.temp_cc = 2500;
    start();
    for (unsigned i = 0; i < FRAMES; i++) {
        send(&imu);
    }
    stop("write");
    start();
    for (unsigned i = 0; i < FRAMES; i++) {
        parse();
    }
    stop("parse");
    begin();
    start();
    for (unsigned i = 0; i < FRAMES; i++) {
        for (size_t at = 0; at < out_length; at++) {
            receive(out + at, 1);
        }
    }
    stop("read");
    print(total == 14u * (uint64_t)FRAMES ? "sound\n" : "WRONG\n");
    return 0;
}
