import { useInfiniteQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useMayManage, useSignedIn } from '../../api/session.ts';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Choice, Field, Form, optionsOf, Submit } from '../../components/forms/form.tsx';
import { DoneButton, Secret } from '../../components/forms/secret-dialog.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, PageHead, ProblemNote } from '../../components/frame/page.tsx';
import { Section } from '../../components/frame/section.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { visibleText } from '../../components/mail/unseen-characters.ts';
import { Time } from '../../components/shown/time.tsx';
import { aboutField } from '../../problem.ts';
import {
  type Invitation,
  invitationsQuery,
  type Member,
  membersQuery,
  type NewInvitation,
  type Role,
  useChangeRole,
  useInvite,
  useRemoveMember,
  useResetPassword,
  useResetSecondFactor,
  useWithdrawInvitation,
} from './queries.ts';

const DecisionRules = lazy(async () => ({ default: (await import('./rules.tsx')).DecisionRules }));

/** Members of the organization, who was invited, and who decides. */
export function PeoplePage() {
  const mayManage = useMayManage();
  const isOwner = useSignedIn().organization?.role === 'owner';
  const [inviting, setInviting] = useAddInAddress();
  const members = useInfiniteQuery(membersQuery);
  const [removing, setRemoving] = useState<Member>();
  const [resetting, setResetting] = useState<Member>();
  const [unlocking, setUnlocking] = useState<Member>();
  const changeRole = useChangeRole();
  return (
    <>
      <PageHead title="People">
        {mayManage ? (
          <Button look="primary" onClick={() => setInviting(true)}>
            <UserPlus size={16} aria-hidden /> Invite
          </Button>
        ) : null}
      </PageHead>
      <div className="grid gap-3">
        <ProblemNote error={changeRole.error} />
        <PagedList label="Members" query={members} empty={null}>
          {(member) => (
            <MemberRow
              member={member}
              changeRole={changeRole}
              onRemove={() => setRemoving(member)}
              onReset={() => setResetting(member)}
              onResetFactor={() => setUnlocking(member)}
            />
          )}
        </PagedList>
      </div>
      {mayManage ? <Invitations /> : null}
      <Suspense>
        <DecisionRules />
      </Suspense>
      {inviting && mayManage ? <Invite mayInviteOwners={isOwner} onClose={() => setInviting(false)} /> : null}
      {resetting === undefined ? null : <ResetPassword member={resetting} onClose={() => setResetting(undefined)} />}
      {unlocking === undefined ? null : <ResetFactor member={unlocking} onClose={() => setUnlocking(undefined)} />}
      {removing === undefined ? null : <Remove member={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

interface MemberRowProps {
  readonly member: Member;
  readonly changeRole: ReturnType<typeof useChangeRole>;
  readonly onRemove: () => void;
  readonly onReset: () => void;
  readonly onResetFactor: () => void;
}

function MemberRow({ member, changeRole, onRemove, onReset, onResetFactor }: MemberRowProps) {
  const { user, organization } = useSignedIn();
  const isOwner = organization?.role === 'owner';
  /** Nobody but an owner changes owners or makes some. */
  const mayChange = useMayManage() && (isOwner || member.role !== 'owner');
  const isSelf = user.id === member.userId;
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_110px_150px_210px]">
      <div className="min-w-0">
        <span className="block truncate font-medium">
          {member.name}
          {isSelf ? <span className="font-normal text-muted"> (you)</span> : null}
        </span>
        <span className="block truncate text-muted">{member.email}</span>
      </div>
      {mayChange ? (
        <select
          aria-label={`Role of ${member.name}`}
          value={member.role}
          disabled={changeRole.isPending}
          onChange={(event) => {
            const chosen = ROLES.find(([role]) => role === event.target.value);
            if (chosen !== undefined) changeRole.mutate({ id: member.id, role: chosen[0] });
          }}
          className="h-8 rounded-md border border-line-strong bg-panel px-2 max-sm:h-11"
        >
          {optionsOf(ROLES.filter(([role]) => role !== 'owner' || isOwner))}
        </select>
      ) : (
        <span>{roleTitle(member.role)}</span>
      )}
      <span className="text-muted">
        <span className="block">
          {member.lastSeenAt === null ? (
            'not signed in'
          ) : (
            <>
              seen <Time value={member.lastSeenAt} />
            </>
          )}
        </span>
        <span className="block text-xs">
          joined <Time value={member.createdAt} />
          {member.hasSecondFactor ? ', second factor' : null}
        </span>
      </span>
      {isSelf ? null : (
        <div className="flex flex-wrap gap-2 sm:justify-end">
          {mayChange && member.hasSecondFactor ? (
            <Button aria-label={`Reset the second factor of ${member.name}`} onClick={onResetFactor}>
              Reset factor
            </Button>
          ) : null}
          {isOwner ? (
            <Button aria-label={`New password for ${member.name}`} onClick={onReset}>
              New password
            </Button>
          ) : null}
          {mayChange ? (
            <Button look="stop" aria-label={`Remove ${member.name}`} onClick={onRemove}>
              Remove
            </Button>
          ) : null}
        </div>
      )}
    </div>
  );
}

function Remove({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const remove = useRemoveMember();
  return (
    <Confirm
      title={`Remove ${member.name}?`}
      consequence="This person loses access at once and gets no more notices. Mailboxes and API keys stay as they are, also those the person made."
      action="Remove from the organization"
      change={remove}
      onConfirm={() => remove.mutate(member.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function ResetFactor({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const reset = useResetSecondFactor();
  return (
    <Confirm
      title={`Reset the second factor of ${member.name}?`}
      consequence="For a person who has lost the device and the recovery codes: make sure that it is this person who asks. The password alone signs in then. All sessions of the person end, and the person gets a mail."
      action="Reset the second factor"
      change={reset}
      onConfirm={() => reset.mutate(member.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function Invitations() {
  const list = useInfiniteQuery(invitationsQuery);
  const withdraw = useWithdrawInvitation();
  return (
    <Section title="Open invitations" className="mt-8 grid gap-3">
      <ProblemNote error={withdraw.error} />
      <PagedList
        label="Open invitations"
        query={list}
        empty={
          <Empty title="No open invitations">
            <p>People who were invited and have not joined yet are listed here.</p>
          </Empty>
        }
      >
        {(invitation) => <InvitationRow invitation={invitation} withdraw={withdraw} />}
      </PagedList>
    </Section>
  );
}

interface InvitationRowProps {
  readonly invitation: Invitation;
  readonly withdraw: ReturnType<typeof useWithdrawInvitation>;
}

function InvitationRow({ invitation, withdraw }: InvitationRowProps) {
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_110px_150px_210px]">
      <span className="min-w-0">
        <span className="block truncate font-medium">{invitation.email}</span>
        {invitation.invitedBy === null ? null : (
          <span className="block truncate text-muted">invited by {visibleText(invitation.invitedBy.name)}</span>
        )}
      </span>
      <span>{roleTitle(invitation.role)}</span>
      <span className="text-muted">
        expires <Time value={invitation.expiresAt} />
      </span>
      <Button
        className="sm:justify-self-end"
        aria-label={`Withdraw the invitation of ${invitation.email}`}
        busy={withdraw.isPending && withdraw.variables === invitation.id}
        onClick={() => withdraw.mutate(invitation.id)}
      >
        Withdraw
      </Button>
    </div>
  );
}

/** Asks for an address and a role, then says how the link reaches the person. */
function Invite({ mayInviteOwners, onClose }: { readonly mayInviteOwners: boolean; readonly onClose: () => void }) {
  const invite = useInvite();
  const [role, setRole] = useState<Role>('member');
  const [made, setMade] = useState<NewInvitation>();
  if (made !== undefined)
    return (
      <Dialog onClose={onClose} keep={made.acceptUrl !== null} title={`Invitation for ${made.email}`}>
        {made.acceptUrl === null ? (
          <p>A link was sent to {made.email}. It can be used once, within a week.</p>
        ) : (
          <Secret
            label="Invitation link"
            value={made.acceptUrl}
            note="No mail was sent, because agents may read that address or this service sends no mail. Hand the link over yourself, in a way that only this person sees. It is shown this once and can be used once, within a week."
          />
        )}
        <DoneButton onClick={onClose} />
      </Dialog>
    );
  const about = aboutField(invite.error, '/email');
  return (
    <Dialog onClose={onClose} title="Invite a person">
      <Form onSubmit={(typed) => invite.mutate({ email: typed('email').trim(), role }, { onSuccess: setMade })}>
        {about === undefined ? <ProblemNote error={invite.error} /> : null}
        <Field label="Email" name="email" type="email" required autoComplete="off" error={about} />
        <Choice
          label="Role"
          value={role}
          options={ROLES.filter(([each]) => each !== 'owner' || mayInviteOwners)}
          onChoose={setRole}
          hint={ROLES.find(([each]) => each === role)?.[2]}
        />
        <Submit busy={invite.isPending}>Invite</Submit>
      </Form>
    </Dialog>
  );
}

/** Makes the link by which a member without a mailbox outside chooses a new password. */
function ResetPassword({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const reset = useResetPassword();
  const url = reset.data?.resetUrl ?? null;
  return (
    <Dialog
      onClose={onClose}
      keep={url !== null}
      title={`New password for ${member.name}`}
      description="For members who cannot get the link by mail themselves. Pass it on in a way that only this person sees."
    >
      <ProblemNote error={reset.error} />
      {url === null ? (
        <Button
          look="primary"
          className="justify-self-end"
          busy={reset.isPending}
          onClick={() => reset.mutate(member.id)}
        >
          Make the link
        </Button>
      ) : (
        <>
          <Secret
            label="Password link"
            value={url}
            note="It is shown this once and works once, within an hour. The password of today works until then."
          />
          <DoneButton onClick={onClose} />
        </>
      )}
    </Dialog>
  );
}

/** Roles with what they may do. */
const ROLES: readonly (readonly [Role, string, string])[] = [
  ['member', 'Member', 'Reads and sends mail, adds mailboxes, decides approvals'],
  ['admin', 'Admin', 'Also manages people, API keys and settings'],
  ['owner', 'Owner', 'Also makes and removes owners'],
];

const roleTitle = (role: Role): string => ROLES.find(([each]) => each === role)?.[1] ?? role;
