/** Settings of webhooks. */
import { choice, cidrs, fourWaits, type Setting, setting, text } from './setting-forms.ts';

export const WEBHOOK_SETTINGS = {
  WEBHOOK_ALLOW_DESTINATIONS: setting(cidrs, {
    group: 'Webhooks',
    fallback: '',
    text: 'CIDR ranges that count as publicly routable, for development and tests, e.g. `127.0.0.0/8,::1/128`. Refused in production.',
  }),
  WEBHOOK_EXTRA_CA: setting(text, {
    group: 'Webhooks',
    text: 'File with an additional root certificate that destinations may use, for development and tests. Refused in production.',
  }),
  WEBHOOK_FAST_LANE: setting(choice('on', 'off'), {
    group: 'Webhooks',
    fallback: 'on',
    text: 'Whether workers make first attempts at once and workflows carry the deliveries beside them. `off`: workflows make every attempt, which takes longer and has the same outcome. Use the same value in all processes.',
  }),
  WEBHOOK_RETRY_DELAYS_MS: setting(fourWaits, {
    group: 'Webhooks',
    fallback: '',
    text: 'Four waits of the retry ladder in milliseconds, for development and tests. Empty: 30 s, 2 min, 10 min, 30 min. Refused in production.',
  }),
} as const satisfies Record<string, Setting<unknown>>;
