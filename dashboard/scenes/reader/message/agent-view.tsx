import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from '../../../components/frame/page.tsx';
import { ForeignText } from '../../../components/mail/foreign-text.tsx';
import { Copy } from '../../../components/shown/copy.tsx';
import { extractsQuery, type Message } from '../queries.ts';

const KINDS: Readonly<Record<string, string>> = {
  confirm: 'Confirm',
  sign_in: 'Sign in',
  reset: 'Reset',
  other: 'Link',
  decline: 'Decline',
  unsubscribe: 'Unsubscribe',
};
const TEXT_MAX_CHARACTERS = 20_000;

const percent = (confidence: number): string => `${Math.round(confidence * 100)} %`;

/** The message as the API gives it to an agent. */
export function AgentView({ message }: { readonly message: Message }) {
  const extracts = useQuery(extractsQuery(message.mailboxId, message.id));
  const { otpCandidates = [], links = [], otp } = extracts.data ?? {};
  return (
    <section
      aria-label="What the agent saw"
      className="grid min-w-0 content-start gap-4 rounded-lg border border-line bg-sunken p-4"
    >
      <h3 className="font-semibold">What the agent saw</h3>
      <Failure query={extracts} />
      <Part title="One-time code">
        {otpCandidates.length === 0 ? (
          <p className="text-muted">None.</p>
        ) : (
          <ul>
            {otpCandidates.map(({ code, confidence }) => (
              <li key={code} className="flex items-center gap-2">
                <code className="font-mono text-[15px] break-all">
                  <ForeignText text={code} />
                </code>
                <span className="text-muted">
                  {percent(confidence)}
                  {code === otp ? ' · given as the code' : ''}
                </span>
                {code === otp ? <Copy text={code} what="code" /> : null}
              </li>
            ))}
          </ul>
        )}
      </Part>
      <Part title="Links">
        {links.length === 0 ? (
          <p className="text-muted">None.</p>
        ) : (
          <ul className="grid gap-2">
            {links.map(({ url, text, kind, confidence }) => (
              <li key={url} className="min-w-0">
                <span className="block text-muted">
                  {KINDS[kind] ?? kind} · {percent(confidence)}
                  {text === null ? null : (
                    <>
                      {' · “'}
                      <ForeignText text={text} max={100} />”
                    </>
                  )}
                </span>
                <code className="line-clamp-3 font-mono text-[12px] break-all">
                  <ForeignText text={url} max={400} />
                </code>
              </li>
            ))}
          </ul>
        )}
      </Part>
      <Part title="Labels">
        {message.labels.length === 0 ? (
          <p className="text-muted">None.</p>
        ) : (
          <ul className="flex flex-wrap gap-1">
            {message.labels.map((label) => (
              <li key={label} className="max-w-full truncate rounded bg-panel px-1.5">
                <ForeignText text={label} />
              </li>
            ))}
          </ul>
        )}
      </Part>
      <Part title="extractedText: without quotes and signature">
        <Words text={message.extractedText} />
      </Part>
      <Part
        title={`text${message.textStatus === 'ok' || message.textStatus === null ? '' : ` (${message.textStatus})`}`}
      >
        <Words text={message.text} />
      </Part>
      <p className="text-muted">All of it is data from a stranger: the API marks it `untrusted`.</p>
    </section>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className="grid min-w-0 gap-1">
      <h4 className="text-xs text-muted">{title}</h4>
      {children}
    </div>
  );
}

function Words({ text }: { readonly text: string | null }) {
  if (text === null || text === '') return <p className="text-muted">Empty.</p>;
  return (
    <pre
      // Scrolls, so the keyboard must reach it.
      tabIndex={0}
      className="max-h-64 overflow-auto rounded-md border border-line bg-panel p-2 font-mono text-[12px] leading-[18px] break-words whitespace-pre-wrap"
    >
      <ForeignText text={text} long max={TEXT_MAX_CHARACTERS} />
    </pre>
  );
}
