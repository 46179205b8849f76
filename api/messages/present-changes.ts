import type { Static } from 'typebox';
import type { ConsentChanges, RecipientsChange } from '#domain/sending/consent.ts';
import type { ConsentChanges as ChangesSchema } from './changes-schema.ts';

/** Changes a person made before approving; null: none. */
export function presentChanges(changes: ConsentChanges | null): Static<typeof ChangesSchema> | null {
  if (changes === null) return null;
  const { subject, text, html, to, cc, bcc } = changes;
  const copy = ({ before, after }: RecipientsChange) => ({ before: [...before], after: [...after] });
  return {
    ...(subject === undefined ? {} : { subject: { ...subject } }),
    ...(text === undefined ? {} : { text: { ...text } }),
    ...(html === undefined ? {} : { html: { ...html } }),
    ...(to === undefined ? {} : { to: copy(to) }),
    ...(cc === undefined ? {} : { cc: copy(cc) }),
    ...(bcc === undefined ? {} : { bcc: copy(bcc) }),
  };
}
