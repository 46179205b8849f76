/**
 * Sources whose clients waited for the greeting, as RFC 5321 §3.1 wants. A program that talks before it is greeted does
 * not read answers, so it is a robot; to find out costs every connection a wait. A source that was patient once is
 * greeted at once from then on, until it talks too soon or is not seen for a while.
 */
import { sourceOf } from '#core/platform/addresses/source-address.ts';
import { SMTP_PATIENT_SOURCE_MS, SMTP_PATIENT_SOURCES_MAX } from '#domain/mail/mail-limits.ts';

export class PatientSources {
  /** When each was patient last, the longest ago first. */
  readonly #seenAt = new Map<string, number>();
  readonly #now: () => number;

  /** @param now milliseconds since an arbitrary moment */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  has(address: string): boolean {
    const seenAt = this.#seenAt.get(sourceOf(address));
    return seenAt !== undefined && this.#now() - seenAt < SMTP_PATIENT_SOURCE_MS;
  }

  add(address: string): void {
    const source = sourceOf(address);
    this.#seenAt.delete(source);
    this.#seenAt.set(source, this.#now());
    if (this.#seenAt.size <= SMTP_PATIENT_SOURCES_MAX) return;
    const [oldest] = this.#seenAt.keys();
    if (oldest !== undefined) this.#seenAt.delete(oldest);
  }

  delete(address: string): void {
    this.#seenAt.delete(sourceOf(address));
  }
}
