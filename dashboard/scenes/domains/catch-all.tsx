import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bodyOf, service } from '../../api/client.ts';
import { mailboxChoicesQuery, useChange } from '../../api/queries.ts';
import { Choice, Form, Submit } from '../../components/forms/form.tsx';
import { Failure, ProblemNote } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import type { Domain } from './queries.ts';

const NOBODY = '';

/** The mailbox that gets mail to addresses of a domain that nobody has. */
export function CatchAllSection({ domain }: { readonly domain: Domain }) {
  const mailboxes = useQuery(mailboxChoicesQuery);
  const [chosen, setChosen] = useState(domain.catchAllMailboxId ?? NOBODY);
  const save = useChange(
    (catchAllMailboxId: string | null) =>
      bodyOf(service.PATCH('/api/domains/{id}', { params: { path: { id: domain.id } }, body: { catchAllMailboxId } })),
    ['domains'],
  );
  const found = mailboxes.data?.data.map(({ id, address }) => [id, address] as const) ?? [];
  const isListed = chosen === NOBODY || found.some(([id]) => id === chosen);
  const options = [
    [NOBODY, 'Nobody: such mail is refused'] as const,
    ...found,
    ...(isListed ? [] : [[chosen, chosen] as const]),
  ];
  return (
    <Section
      title="Mail to unknown addresses"
      note="One mailbox can get the mail to every address of this domain that no mailbox and no alias has. Addresses that were dropped or deleted stay refused."
      className="mt-8 grid gap-3"
    >
      {mailboxes.isError ? <Failure query={mailboxes} /> : null}
      <Form onSubmit={() => save.mutate(chosen === NOBODY ? null : chosen)} className="grid max-w-md gap-3">
        <ProblemNote error={save.error} />
        <Choice label="Mailbox" options={options} value={chosen} onChoose={setChosen} />
        <div>
          <Submit busy={save.isPending} disabled={chosen === (domain.catchAllMailboxId ?? NOBODY)}>
            Save
          </Submit>
        </div>
      </Form>
    </Section>
  );
}
