/** `mail`. */
import type { Command } from 'commander';
import { addChangeCommands } from './change-mail.ts';
import { addReadCommands } from './read-mail.ts';
import { addOutboxCommands, addSendCommands } from './send-mail.ts';
import { addExtractsCommand, addWaitCommand } from './wait-for-mail.ts';

export function addMailCommands(program: Command): void {
  const mail = program.command('mail').description('Read and send mail');
  addReadCommands(mail);
  addExtractsCommand(mail);
  addWaitCommand(mail);
  addSendCommands(mail);
  addOutboxCommands(mail);
  addChangeCommands(mail);
}
