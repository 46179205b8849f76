/** Hours of the day in the API, in a time zone. */
import Type from 'typebox';
import { closed } from '#api/http/schema-parts.ts';

const TIME = '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$';
const TIME_ZONE_MAX_CHARACTERS = 64;

export const TimeZone = Type.String({
  minLength: 1,
  maxLength: TIME_ZONE_MAX_CHARACTERS,
  pattern: '^[A-Za-z0-9_+/-]+$',
  description: 'As IANA names it, such as `Europe/Berlin`.',
});

/** Hours of chosen days. */
export const DutyHours = closed(
  {
    timeZone: TimeZone,
    days: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      minItems: 1,
      maxItems: 7,
      description: 'Days on which the hours begin: 1 is Monday, 7 Sunday.',
    }),
    from: Type.String({ pattern: TIME, description: 'Such as `08:00`.' }),
    to: Type.String({ pattern: TIME, description: 'The end, which is not included. Before `from`: on the next day.' }),
  },
  { title: 'DutyHours', description: 'Hours of chosen days in a time zone: of duty, null for always; or quiet ones.' },
);
