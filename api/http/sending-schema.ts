/** Schemas of the brakes of sending, which mailboxes and the organization share. */
import Type from 'typebox';
import { BUDGET_MAX, SENDING_MODES } from '#domain/sending/sending-brakes.ts';
import { closed, nullable } from './schema-parts.ts';

export const SendingModeSchema = Type.Enum([...SENDING_MODES], {
  description:
    '`drafts_only`: an agent cannot send; it saves a draft, and a signed-in person sends that. `stopped`: nothing is sent; queued messages wait and are sent when the stop ends.',
});

/** A number of a day, or null. */
export const budget = (description: string) =>
  nullable(Type.Integer({ minimum: 0, maximum: BUDGET_MAX, description: `${description} Null: no limit.` }));

const MESSAGES = 'Messages per day (UTC); messages beyond this number are held for a person.';
const NEW_RECIPIENTS =
  'New recipients per day (UTC): outside the organization, nothing was sent to them before, and they did not write first. A message beyond this number is held for a person.';
export const MessagesBudget = budget(MESSAGES);
export const NewRecipientsBudget = budget(NEW_RECIPIENTS);

export const SendingBudgetsSchema = closed(
  { messagesPerDay: MessagesBudget, newRecipientsPerDay: NewRecipientsBudget },
  { title: 'SendingBudgets' },
);

export const SendingToday = closed(
  {
    sent: Type.Integer({ description: 'Messages sent today (UTC), without those that are held.' }),
    newRecipients: Type.Integer({ description: 'Recipients outside that got their first message today.' }),
    received: Type.Integer(),
    held: Type.Integer({ description: 'Messages that wait for a person now.' }),
  },
  { title: 'SendingToday' },
);
