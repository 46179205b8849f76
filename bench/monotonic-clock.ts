/** Milliseconds on the machine's monotonic clock: comparable between processes of one machine, unlike `performance.now`. */
export const monotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
