/** The pages of operators: signed in with their key, apart from what people of organizations see. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Field, Form } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { EntryFrame } from '../../components/frame/entry-frame.tsx';
import { PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Loaded } from '../../components/frame/section.tsx';
import { Tabs } from '../../components/shown/tabs.tsx';
import { ErasuresView, LogView } from './log.tsx';
import { FindMailView, QueueView } from './mail.tsx';
import { MovesView } from './moves.tsx';
import { forgetOperatorKey, overviewQuery, useOperatorKey } from './queries.ts';
import { IncidentsView, OverviewView } from './state.tsx';
import { TenantsView } from './tenants.tsx';

export function OperatorsPage() {
  const [isSignedIn, setSignedIn] = useState(false);
  const queries = useQueryClient();
  if (!isSignedIn) return <KeyForm onSignedIn={() => setSignedIn(true)} />;
  return (
    <Signed
      onSignOut={() => {
        forgetOperatorKey();
        queries.removeQueries({ queryKey: ['operator'] });
        setSignedIn(false);
      }}
    />
  );
}

function KeyForm({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const tryKey = useOperatorKey();
  return (
    <EntryFrame
      title="Operators"
      note="For the operator of this installation. The key is forgotten when the page is left."
    >
      <Form onSubmit={(typed) => tryKey.mutate(typed('key').trim(), { onSuccess: onSignedIn })}>
        <ProblemNote error={tryKey.error} />
        <Field
          label="Operator key"
          name="key"
          type="password"
          autoComplete="off"
          required
          autoFocus
          hint="OPERATOR_KEY"
        />
        <Button type="submit" look="primary" busy={tryKey.isPending}>
          Continue
        </Button>
      </Form>
    </EntryFrame>
  );
}

function Signed({ onSignOut }: { readonly onSignOut: () => void }) {
  const overview = useQuery(overviewQuery);
  return (
    <main className="mx-auto w-full max-w-[1184px] px-8 pt-6 pb-16 max-sm:p-3">
      <PageHead title="Operators" note={overview.data === undefined ? undefined : `Version ${overview.data.version}`}>
        <Button onClick={onSignOut}>Sign out</Button>
      </PageHead>
      <Tabs
        label="Views"
        tabs={[
          {
            id: 'overview',
            title: 'Overview',
            content: <Loaded query={overview}>{(data) => <OverviewView overview={data} />}</Loaded>,
          },
          {
            id: 'incidents',
            title: 'Incidents',
            content: <Loaded query={overview}>{(data) => <IncidentsView overview={data} />}</Loaded>,
          },
          { id: 'tenants', title: 'Tenants', content: <TenantsView /> },
          { id: 'queue', title: 'Queue', content: <QueueView /> },
          { id: 'find', title: 'Find a mail', content: <FindMailView /> },
          { id: 'moves', title: 'Export and import', content: <MovesView /> },
          { id: 'erasures', title: 'Erasures', content: <ErasuresView /> },
          { id: 'log', title: 'Log', content: <LogView /> },
        ]}
      />
    </main>
  );
}
