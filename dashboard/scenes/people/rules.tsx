import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { bodyOf, done, type Schemas, service } from '../../api/client.ts';
import { pagedQuery, singleQuery, useChange } from '../../api/queries.ts';
import { useMayManage, useSignedIn } from '../../api/session.ts';
import { Choice, Field, Form, LongField, Submit } from '../../components/forms/form.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, Failure, ProblemNote } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { rowsOf } from '../../components/lists/steady-rows.ts';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { Time } from '../../components/shown/time.tsx';
import { type Member, membersQuery } from './queries.ts';

type Rule = Schemas['DecisionRule'];

const rulesQuery = pagedQuery(['people', 'rules'], (from) =>
  bodyOf(service.GET('/api/decision-rules', { params: { query: from } })),
);
const deputyQuery = singleQuery(['people', 'deputy'], () => bodyOf(service.GET('/api/sessions/current/deputy')));
const groupsQuery = singleQuery(['mailboxes', 'choices', 'groups'], () => bodyOf(service.GET('/api/mailbox-groups')));

/** Who decides about held messages, and one's deputy. */
export function DecisionRules() {
  const mayManage = useMayManage();
  const rules = useInfiniteQuery(rulesQuery);
  const members = rowsOf<Member>(useInfiniteQuery(membersQuery));
  const [adding, setAdding] = useState(false);
  const remove = useChange(
    (id: string) => done(service.DELETE('/api/decision-rules/{id}', { params: { path: { id } } })),
    ['people', 'rules'],
  );
  return (
    <Section title="Who decides" className="mt-8 grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-72 text-muted">
          Without a rule every member decides about held messages, and is notified of them.
        </p>
        {mayManage ? (
          <Button onClick={() => setAdding(true)}>
            <Plus size={16} aria-hidden /> Add a rule
          </Button>
        ) : null}
      </div>
      <ProblemNote error={remove.error} />
      <PagedList
        label="Rules who decides"
        query={rules}
        empty={
          <Empty title="Every member decides">
            <p>A rule names members for a group of mailboxes or for recipients, or asks for two persons.</p>
          </Empty>
        }
      >
        {(rule) => (
          <RuleRow rule={rule} members={members} onRemove={mayManage ? () => remove.mutate(rule.id) : undefined} />
        )}
      </PagedList>
      <MyDeputy members={members} />
      {adding ? <AddRule members={members} onClose={() => setAdding(false)} /> : null}
    </Section>
  );
}

interface RuleRowProps {
  readonly rule: Rule;
  readonly members: readonly Member[];
  readonly onRemove: (() => void) | undefined;
}

function RuleRow({ rule, members, onRemove }: RuleRowProps) {
  const { mailboxGroup, recipients, memberIds, persons, hours, escalatesAfterHours } = rule;
  const names = memberIds.map((id) => visibleText(members.find((each) => each.id === id)?.name ?? 'a member'));
  const about = [
    mailboxGroup === null ? 'Every mailbox' : `Group ${mailboxGroup}`,
    recipients.length === 0 ? '' : `to ${recipients.map(visibleText).join(', ')}`,
  ];
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_auto]">
      <div className="min-w-0 wrap-anywhere">
        <span className="block font-medium">{about.filter((each) => each !== '').join(', ')}</span>
        <span className="block">
          {names.length === 0 ? 'Every member' : names.join(', ')}
          {persons === 2 ? '; two persons must approve' : ''}
        </span>
        <span className="block text-muted">
          {hours === null ? '' : `${daysOf(hours.days)}, ${hours.from} to ${hours.to}, ${hours.timeZone}; `}
          {names.length === 0 ? '' : `every member after ${escalatesAfterHours} h`}
        </span>
      </div>
      {onRemove === undefined ? null : (
        <Button look="stop" onClick={onRemove}>
          Delete
        </Button>
      )}
    </div>
  );
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const daysOf = (days: readonly number[]): string => days.map((day) => DAYS[day - 1] ?? '').join(', ');

const PERSONS = [
  [1, 'One person'],
  [2, 'Two persons'],
] as const;
const WHEN = [
  ['always', 'Always'],
  ['workdays', 'Monday to Friday'],
  ['everyday', 'Every day'],
] as const;

function AddRule({ members, onClose }: { readonly members: readonly Member[]; readonly onClose: () => void }) {
  const groups = useQuery(groupsQuery);
  const [group, setGroup] = useState('');
  const [persons, setPersons] = useState<(typeof PERSONS)[number][0]>(1);
  const [when, setWhen] = useState<(typeof WHEN)[number][0]>('always');
  const [named, setNamed] = useState<ReadonlySet<string>>(new Set());
  const add = useChange(
    (body: Schemas['NewDecisionRule']) => bodyOf(service.POST('/api/decision-rules', { body })),
    ['people', 'rules'],
  );
  const options = [
    ['', 'Every mailbox'],
    ...(groups.data?.data.flatMap(({ name }) => (name === null ? [] : [[name, `Group ${name}`] as const])) ?? []),
  ] as const;
  return (
    <Dialog onClose={onClose} title="Add a rule">
      <Form
        onSubmit={(typed) =>
          add.mutate(
            {
              mailboxGroup: group === '' ? null : group,
              recipients: typed('recipients')
                .split(/[\s,]+/)
                .filter((each) => each !== ''),
              memberIds: [...named],
              persons,
              escalatesAfterHours: Number(typed('hours')),
              ...(when === 'always'
                ? {}
                : {
                    hours: {
                      timeZone: typed('timeZone'),
                      days: when === 'workdays' ? [1, 2, 3, 4, 5] : [1, 2, 3, 4, 5, 6, 7],
                      from: typed('from'),
                      to: typed('to'),
                    },
                  }),
            },
            { onSuccess: onClose },
          )
        }
      >
        <ProblemNote error={add.error} />
        <Failure query={groups} />
        <Choice label="Messages of" options={options} value={group} onChoose={setGroup} />
        <LongField
          label="Recipients"
          name="recipients"
          rows={2}
          hint="Addresses or domains, one per line. Empty: everybody."
        />
        <fieldset>
          <legend className="mb-1 font-medium">Who decides</legend>
          <div className="max-h-40 overflow-y-auto">
            {members.map(({ id, name }) => (
              <label key={id} className="flex min-h-8 items-center gap-2 max-sm:min-h-11">
                <input
                  type="checkbox"
                  checked={named.has(id)}
                  onChange={() =>
                    setNamed(new Set(named.has(id) ? [...named].filter((e) => e !== id) : [...named, id]))
                  }
                />
                {visibleText(name)}
              </label>
            ))}
          </div>
        </fieldset>
        <Choice label="Approvals needed" options={PERSONS} value={persons} onChoose={setPersons} />
        <Choice label="On duty" options={WHEN} value={when} onChoose={setWhen} />
        {when === 'always' ? null : (
          <div className="grid gap-4 sm:grid-cols-3">
            <Field label="From" name="from" type="time" required defaultValue="08:00" />
            <Field label="To" name="to" type="time" required defaultValue="18:00" />
            <Field
              label="Time zone"
              name="timeZone"
              required
              defaultValue={Intl.DateTimeFormat().resolvedOptions().timeZone}
            />
          </div>
        )}
        <Field
          label="Every member after"
          name="hours"
          type="number"
          required
          min={1}
          max={168}
          defaultValue="8"
          hint="Hours without a decision. Then every member is asked and may decide."
        />
        <Submit busy={add.isPending}>Add</Submit>
      </Form>
    </Dialog>
  );
}

const UNTIL = [
  [1, 'for a day'],
  [7, 'for a week'],
  [14, 'for two weeks'],
  [30, 'for 30 days'],
] as const;
const DAY_MS = 86_400_000;

/** Who decides for the person that looks, for a time. */
function MyDeputy({ members }: { readonly members: readonly Member[] }) {
  const { user } = useSignedIn();
  const mine = useQuery(deputyQuery);
  const [chosen, setChosen] = useState<string>();
  const [days, setDays] = useState<(typeof UNTIL)[number][0]>(7);
  const change = useChange(
    (body: Schemas['DeputyChange']) => bodyOf(service.PUT('/api/sessions/current/deputy', { body })),
    ['people', 'deputy'],
  );
  const others = members.filter(({ userId }) => userId !== user.id);
  const memberId = chosen ?? others[0]?.id;
  const deputy = mine.data?.deputy ?? null;
  if (mine.data === undefined || memberId === undefined) return <Failure query={mine} />;
  const name = (id: string) => visibleText(members.find((each) => each.id === id)?.name ?? 'a member');
  return (
    <div className="grid gap-2">
      <h3 className="font-medium">Your deputy</h3>
      <ProblemNote error={change.error} />
      {deputy === null ? (
        <div className="flex flex-wrap items-end gap-2">
          <Choice
            label="Decides for you"
            options={others.map((each) => [each.id, name(each.id)] as const)}
            value={memberId}
            onChoose={setChosen}
          />
          <Choice label="How long" options={UNTIL} value={days} onChoose={setDays} />
          <Button
            busy={change.isPending}
            onClick={() => {
              const now = Date.now();
              const from = new Date(now).toISOString();
              change.mutate({ deputy: { memberId, from, until: new Date(now + days * DAY_MS).toISOString() } });
            }}
          >
            Name
          </Button>
        </div>
      ) : (
        <div className="flex flex-wrap items-center gap-3">
          <p className="min-w-0">
            {name(deputy.memberId)} decides wherever a rule names you, until <Time value={deputy.until} />.
          </p>
          <Button busy={change.isPending} onClick={() => change.mutate({ deputy: null })}>
            End it
          </Button>
        </div>
      )}
    </div>
  );
}
