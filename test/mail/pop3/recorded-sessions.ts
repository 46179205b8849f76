/** What the POP3 sessions of this process have said and heard, for `coverage.test.ts` to look at. */
import type { LineClient } from '#test/support/line-client.ts';

export interface Exchange {
  /** Number of the connection. */
  readonly connection: number;
  readonly state: 'authorization' | 'transaction';
  readonly secure: boolean;
  readonly text: string;
  readonly reply: string;
}

export const exchanges: Exchange[] = [];
/** Of connections that sent several commands at once. */
export const pipelined: string[] = [];
let connections = 0;

/** Listens to one client. */
export function recorded(client: LineClient, secure: boolean): LineClient {
  const connection = ++connections;
  let state: Exchange['state'] = 'authorization';
  let isSecure = secure;
  const command = client.command.bind(client);
  client.command = async (text) => {
    const reply = await command(text);
    exchanges.push({ connection, state, secure: isSecure, text, reply: reply ?? '' });
    const entered = /^(?:PASS|AUTH)\b/i.test(text) || exchanges.at(-2)?.text.toUpperCase().startsWith('AUTH') === true;
    if (entered && reply?.startsWith('+OK') === true) state = 'transaction';
    if (/^STLS/i.test(text) && reply?.startsWith('+OK') === true) isSecure = true;
    return reply;
  };
  const send = client.send.bind(client);
  client.send = (data) => {
    if (typeof data === 'string' && /\r\n.+\r\n$/s.test(data)) pipelined.push(data);
    send(data);
  };
  return client;
}
