import { useInfiniteQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useMayManage, useSignedIn } from '../../api/session.ts';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Empty } from '../../components/frame/empty.tsx';
import { PageHead } from '../../components/frame/page-head.tsx';
import { ProblemNote } from '../../components/frame/problem-note.tsx';
import { PagedList } from '../../components/lists/paged-list.tsx';
import { visibleText } from '../../components/mail/visible-text.ts';
import { Time } from '../../components/shown/time.tsx';
import { Invite } from './invite.tsx';
import {
  type Invitation,
  invitationsQuery,
  type Member,
  membersQuery,
  type Role,
  useChangeRole,
  useRemoveMember,
  useWithdrawInvitation,
} from './queries.ts';
import { ResetPassword } from './reset-password.tsx';
import { ROLES, roleTitle } from './roles.ts';

/** Members of the organization and who was invited. */
export function PeoplePage() {
  const mayManage = useMayManage();
  const isOwner = useSignedIn().organization?.role === 'owner';
  const [inviting, setInviting] = useAddInAddress();
  const members = useInfiniteQuery(membersQuery);
  const [removing, setRemoving] = useState<Member>();
  const [resetting, setResetting] = useState<Member>();
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
              roles={mayManage ? (isOwner ? 'all' : member.role === 'owner' ? 'none' : 'below-owner') : 'none'}
              mayRemove={mayManage && (isOwner || member.role !== 'owner')}
              busy={changeRole.isPending}
              onRole={(role) => changeRole.mutate({ id: member.id, role })}
              onRemove={() => setRemoving(member)}
              onReset={isOwner ? () => setResetting(member) : undefined}
            />
          )}
        </PagedList>
      </div>
      {mayManage ? <Invitations /> : null}
      {inviting && mayManage ? <Invite mayInviteOwners={isOwner} onClose={() => setInviting(false)} /> : null}
      {resetting === undefined ? null : <ResetPassword member={resetting} onClose={() => setResetting(undefined)} />}
      {removing === undefined ? null : <Remove member={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}

interface MemberRowProps {
  readonly member: Member;
  /** Roles the reader may give this member. */
  readonly roles: 'all' | 'below-owner' | 'none';
  readonly mayRemove: boolean;
  readonly busy: boolean;
  readonly onRole: (role: Role) => void;
  readonly onRemove: () => void;
  /** Undefined: the reader may not. */
  readonly onReset: (() => void) | undefined;
}

function MemberRow({ member, roles, mayRemove, busy, onRole, onRemove, onReset }: MemberRowProps) {
  const { user } = useSignedIn();
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
      {roles === 'none' ? (
        <span>{roleTitle(member.role)}</span>
      ) : (
        <select
          aria-label={`Role of ${member.name}`}
          value={member.role}
          disabled={busy}
          onChange={(event) => {
            const chosen = ROLES.find(([role]) => role === event.target.value);
            if (chosen !== undefined) onRole(chosen[0]);
          }}
          className="h-8 rounded-md border border-line-strong bg-panel px-2 max-sm:h-11"
        >
          {ROLES.filter(([role]) => role !== 'owner' || roles === 'all').map(([role, title]) => (
            <option key={role} value={role}>
              {title}
            </option>
          ))}
        </select>
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
        </span>
      </span>
      {isSelf ? null : (
        <div className="flex gap-2 sm:justify-end">
          {onReset === undefined ? null : (
            <Button aria-label={`New password for ${member.name}`} onClick={onReset}>
              New password
            </Button>
          )}
          {mayRemove ? (
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
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(member.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function Invitations() {
  const list = useInfiniteQuery(invitationsQuery);
  const withdraw = useWithdrawInvitation();
  return (
    <section aria-labelledby="invitations" className="mt-8 grid gap-3">
      <h2 id="invitations">Open invitations</h2>
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
        {(invitation) => (
          <InvitationRow
            invitation={invitation}
            busy={withdraw.isPending && withdraw.variables === invitation.id}
            onWithdraw={() => withdraw.mutate(invitation.id)}
          />
        )}
      </PagedList>
    </section>
  );
}

function InvitationRow({
  invitation,
  busy,
  onWithdraw,
}: {
  readonly invitation: Invitation;
  readonly busy: boolean;
  readonly onWithdraw: () => void;
}) {
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
        busy={busy}
        onClick={onWithdraw}
      >
        Withdraw
      </Button>
    </div>
  );
}
