/** Messages of the load: mostly small, and every sixth too large to be kept in memory while it is received. */
const SMALL_BYTES = 2_000;
const LARGE_BYTES = 400_000;
const LARGE_EVERY = 6;
const LINE = `${'The quick brown fox jumps over the lazy dog near the old mill. '.slice(0, 62)}\r\n`;

/** @param mark part of the Message-ID and the subject, so that no two have the same content */
export function loadMessage(mark: string, number: number, from: string, to: string): Buffer {
  const bytes = number % LARGE_EVERY === 0 ? LARGE_BYTES : SMALL_BYTES;
  const header =
    `Date: ${new Date().toUTCString()}\r\nFrom: Load Maker <${from}>\r\nTo: <${to}>\r\nSubject: ${mark}\r\n` +
    `Message-ID: <${mark}@sender.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n`;
  return Buffer.from(header + LINE.repeat(Math.ceil(bytes / LINE.length)));
}
