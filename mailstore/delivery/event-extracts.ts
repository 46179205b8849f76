import { EVENT_EXTRACTS_LIMIT_BYTES } from '#domain/webhooks/delivery-limits.ts';
import { surelyCode } from '#mime/one-time-code.ts';
import type { MessageContent } from '#mime/read-content.ts';

/**
 * Codes and links of a message for its event, in the form of `GET …/extracts`. The most likely links come first; those
 * that would make the event longer by more than 16 KiB are left out.
 */
export function eventExtracts({ codes, links }: Pick<MessageContent, 'codes' | 'links'>): object {
  const fitting: object[] = [];
  const extracts = { otp: surelyCode(codes), otpCandidates: codes, links: fitting };
  let room = EVENT_EXTRACTS_LIMIT_BYTES - Buffer.byteLength(JSON.stringify(extracts));
  for (const link of links) {
    const bytes = Buffer.byteLength(JSON.stringify(link)) + 1;
    if (bytes > room) continue;
    room -= bytes;
    fitting.push(link);
  }
  return extracts;
}
