import { RETRY_DELAYS_MS } from '#domain/webhooks/retry-ladder.ts';
import type { Settings } from './settings.ts';

/** Waits of the retry ladder in milliseconds: those of the interface, unless a test shortens them. */
export const retryDelaysMs = ({ WEBHOOK_RETRY_DELAYS_MS }: Settings): readonly number[] =>
  WEBHOOK_RETRY_DELAYS_MS.length > 0 ? WEBHOOK_RETRY_DELAYS_MS : RETRY_DELAYS_MS;
