import { bad, ok, type Pop3Command } from '#pop3/command.ts';

/** RFC 6856 §2. Messages are sent as they are stored, so no mode changes. */
export const utf8: Pop3Command = {
  verb: 'UTF8',
  states: ['authorization'],
  run: (_session, argument) => (argument === '' ? ok('UTF-8 is enabled') : bad('UTF8 takes no argument')),
};
