/** The spans of SMTP sessions: one for the connection, and below it one for each message. */
import type net from 'node:net';
import type { SMTPServerSession } from 'smtp-server';
import { addressAttributes, beginSpan, inSpan, isTracing, type Span } from '#core/platform/tracing/trace.ts';
import { envelopeLine } from './session-line.ts';

export interface SessionTraces {
  /** Call it before the socket is given to the server, which removes listeners. */
  begin(id: string, socket: net.Socket): void;
  /** Carries out what is done with a message. */
  message<Result>(session: SMTPServerSession, work: (span: Span) => Promise<Result>): Promise<Result>;
}

export function sessionTraces(listener: 'smtp' | 'submission'): SessionTraces {
  const open = new Map<string, Span>();
  return {
    begin(id, socket) {
      if (!isTracing()) return;
      const attributes = {
        'network.protocol.name': 'smtp',
        'agent_mailbox.listener': listener,
        'agent_mailbox.session.id': id,
      };
      const span = beginSpan('smtp.session', { kind: 'server', parent: null, attributes });
      open.set(id, span);
      socket.once('close', () => {
        open.delete(id);
        span.end();
      });
    },
    message(session, work) {
      const { from, to = [] } = envelopeLine(session);
      const attributes = { 'agent_mailbox.session.id': session.id, ...addressAttributes(from, to) };
      return inSpan('smtp.message', { parent: open.get(session.id)?.context ?? null, attributes }, work);
    },
  };
}
