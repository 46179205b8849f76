import { bad, ok, type Pop3Command } from '../command.ts';

/** RFC 6856 §2. Messages are sent as they are stored, so there is nothing to switch. */
export const utf8: Pop3Command = {
  verb: 'UTF8',
  states: ['authorization'],
  run: (_session, argument) => (argument === '' ? ok('UTF-8 it is') : bad('UTF8 takes no argument')),
};
