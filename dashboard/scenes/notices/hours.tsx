import { useState } from 'react';
import { Choice, Field, Form, type Options } from '../../components/forms/form.tsx';
import { SaveRow } from '../../components/forms/settings.tsx';
import { ProblemNote } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { aboutField } from '../../problem.ts';
import { type NoticeSettings, useChangeNoticeSettings } from './queries.ts';

const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const WORKDAYS = [1, 2, 3, 4, 5];
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const DIGESTS: Options<'default' | 'daily' | 'weekdays'> = [
  ['default', 'When incoming mail waits'],
  ['daily', 'Every day'],
  ['weekdays', 'Monday to Friday'],
];

const QUIET: Options<'never' | 'daily' | 'weekdays'> = [
  ['never', 'None'],
  ['daily', 'Every day'],
  ['weekdays', 'From Monday to Friday'],
];

const HOURS: Options<number> = Array.from({ length: 24 }, (_, hour) => [hour, `${String(hour).padStart(2, '0')}:00`]);

/** When a person gets mail: the hour of the digest, and hours without any. */
export function Hours({ settings }: { readonly settings: NoticeSettings }) {
  return (
    <>
      <Digest settings={settings} />
      <Quiet settings={settings} />
    </>
  );
}

function Digest({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  const { approvals, digest } = settings;
  const [days, setDays] = useState<'default' | 'daily' | 'weekdays'>(digest?.days ?? 'default');
  const [hour, setHour] = useState(digest?.hour ?? 8);
  return (
    <Section
      level={3}
      title="Digest"
      note="One mail a day with everything that waits, the oldest first. None if nothing waits."
      className="grid gap-2"
    >
      <Form
        aria-label="Digest"
        onSubmit={(typed) =>
          change.mutate({
            approvals,
            digest: days === 'default' ? null : { days, hour, timeZone: typed('timeZone').trim() },
          })
        }
      >
        <ProblemNote error={change.error} />
        <div className="grid items-start gap-3 sm:grid-cols-3">
          <Choice label="Days" value={days} options={DIGESTS} onChoose={setDays} />
          {days === 'default' ? null : (
            <>
              <Choice label="Hour" value={hour} options={HOURS} onChoose={setHour} />
              <Field
                label="Time zone"
                name="timeZone"
                required
                defaultValue={digest?.timeZone ?? HERE}
                error={aboutField(change.error, '/digest/timeZone')}
              />
            </>
          )}
        </div>
        <SaveRow busy={change.isPending} done={change.isSuccess ? 'Saved' : ''}>
          Save the digest
        </SaveRow>
      </Form>
    </Section>
  );
}

function Quiet({ settings }: { readonly settings: NoticeSettings }) {
  const change = useChangeNoticeSettings();
  const { approvals, quietHours } = settings;
  const saved = quietHours === null ? 'never' : quietHours.days.length === ALL_DAYS.length ? 'daily' : 'weekdays';
  const [days, setDays] = useState<'never' | 'daily' | 'weekdays'>(saved);
  return (
    <Section
      level={3}
      title="Quiet hours"
      note="Mail about waiting messages comes as one when they end. Others are asked meanwhile, as the rules who decides say. Chats go on."
      className="grid gap-2"
    >
      <Form
        aria-label="Quiet hours"
        onSubmit={(typed) =>
          change.mutate({
            approvals,
            quietHours:
              days === 'never'
                ? null
                : {
                    timeZone: typed('timeZone').trim(),
                    days: days === 'daily' ? ALL_DAYS : WORKDAYS,
                    from: typed('from'),
                    to: typed('to'),
                  },
          })
        }
      >
        <ProblemNote error={change.error} />
        <div className="grid items-start gap-3 sm:grid-cols-2">
          <Choice label="Days on which they begin" value={days} options={QUIET} onChoose={setDays} />
          {days === 'never' ? null : (
            <>
              <Field
                label="Time zone of the quiet hours"
                name="timeZone"
                required
                defaultValue={quietHours?.timeZone ?? HERE}
                error={aboutField(change.error, '/quietHours/timeZone')}
              />
              <Field label="From" name="from" type="time" required defaultValue={quietHours?.from ?? '20:00'} />
              <Field
                label="To"
                name="to"
                type="time"
                required
                defaultValue={quietHours?.to ?? '07:00'}
                error={aboutField(change.error, '/quietHours/to')}
              />
            </>
          )}
        </div>
        <SaveRow busy={change.isPending} done={change.isSuccess ? 'Saved' : ''}>
          Save the quiet hours
        </SaveRow>
      </Form>
    </Section>
  );
}
