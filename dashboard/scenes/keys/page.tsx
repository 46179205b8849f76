import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useMayManage } from '../../api/session.ts';
import { useAddInAddress } from '../../components/forms/add-in-address.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Expires, LastUsed } from '../../components/forms/expiration.tsx';
import { DoneButton, Secret } from '../../components/forms/secret-dialog.tsx';
import { Button } from '../../components/frame/button.tsx';
import { Dialog } from '../../components/frame/dialog.tsx';
import { Empty, PageHead } from '../../components/frame/page.tsx';
import { PagedList } from '../../components/lists/steady-list.tsx';
import { KeyForm, SCOPES } from './key-form.tsx';
import { type Key, keysQuery, type NewKey, useCreateKey, useRevokeKey, useUpdateKey } from './queries.ts';

/** Keys by which programs manage the organization. */
export function KeysPage() {
  const mayManage = useMayManage();
  return mayManage ? (
    <Keys />
  ) : (
    <>
      <PageHead title="API keys" />
      <Empty title="Only for admins">
        <p>Only admins and owners can see and create API keys. Ask one of them.</p>
      </Empty>
    </>
  );
}

function Keys() {
  const [creating, setCreating] = useAddInAddress();
  const [editing, setEditing] = useState<Key>();
  const [revoking, setRevoking] = useState<Key>();
  const list = useInfiniteQuery(keysQuery);
  return (
    <>
      <PageHead title="API keys">
        <Button look="primary" onClick={() => setCreating(true)}>
          <Plus size={16} aria-hidden /> Create key
        </Button>
      </PageHead>
      <PagedList
        label="API keys"
        query={list}
        empty={
          <Empty title="No API keys">
            <p>A key lets a program manage mailboxes and webhooks within its scopes.</p>
            <Button look="primary" onClick={() => setCreating(true)}>
              Create the first key
            </Button>
          </Empty>
        }
      >
        {(key) => <KeyRow row={key} onEdit={() => setEditing(key)} onRevoke={() => setRevoking(key)} />}
      </PagedList>
      {creating ? <CreateKey onClose={() => setCreating(false)} /> : null}
      {editing === undefined ? null : <EditKey row={editing} onClose={() => setEditing(undefined)} />}
      {revoking === undefined ? null : <Revoke row={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  );
}

interface KeyRowProps {
  readonly row: Key;
  readonly onEdit: () => void;
  readonly onRevoke: () => void;
}

function KeyRow({ row, onEdit, onRevoke }: KeyRowProps) {
  return (
    <div className="grid items-center gap-x-4 gap-y-1 sm:grid-cols-[minmax(0,1fr)_minmax(0,1.3fr)_140px_130px_auto]">
      <div className="min-w-0">
        <span className="block truncate font-medium">{row.name}</span>
        <code className="font-mono text-[13px] text-muted">{row.keyHint}…</code>
      </div>
      <div className="min-w-0 text-muted">
        {row.scopes.length === SCOPES.length ? 'every scope' : row.scopes.join(', ')}
        {row.mailboxGroups === null ? null : <span className="block">in {row.mailboxGroups.join(', ')}</span>}
      </div>
      <div className="text-muted">
        <Expires at={row.expiresAt} />
      </div>
      <div className="text-muted">
        <LastUsed at={row.lastUsedAt} />
      </div>
      <div className="flex gap-2">
        <Button aria-label={`Edit ${row.name}`} onClick={onEdit}>
          Edit
        </Button>
        <Button look="stop" aria-label={`Revoke ${row.name}`} onClick={onRevoke}>
          Revoke
        </Button>
      </div>
    </div>
  );
}

function Revoke({ row, onClose }: { readonly row: Key; readonly onClose: () => void }) {
  const revoke = useRevokeKey();
  return (
    <Confirm
      title={`Revoke “${row.name}”?`}
      consequence="Programs that use this key are refused from now on. A revoked key cannot be brought back."
      action="Revoke key"
      change={revoke}
      onConfirm={() => revoke.mutate(row.id, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

/** Asks for name, scopes and expiration, then shows the key, once. */
function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateKey();
  const [made, setMade] = useState<NewKey>();
  return (
    <Dialog onClose={onClose} keep={made !== undefined} title={made === undefined ? 'Create an API key' : made.name}>
      {made === undefined ? (
        <KeyForm
          action="Create key"
          busy={create.isPending}
          error={create.error}
          onSubmit={(input) =>
            create.mutate({ ...input, expiresAt: input.expiresAt ?? null }, { onSuccess: (key) => setMade(key) })
          }
        />
      ) : (
        <>
          <Secret
            label="API key"
            value={made.key ?? ''}
            note="It is shown this once. Send it as the header x-organization-key."
          />
          <DoneButton onClick={onClose} />
        </>
      )}
    </Dialog>
  );
}

/** Changes what a key is called, may do and how long; the key itself stays. */
function EditKey({ row, onClose }: { readonly row: Key; readonly onClose: () => void }) {
  const update = useUpdateKey(row.id);
  return (
    <Dialog
      onClose={onClose}
      title={`Edit “${row.name}”`}
      description="The key itself stays, and programs that use it keep working. What its scopes allow changes at once."
    >
      <KeyForm
        row={row}
        action="Save"
        busy={update.isPending}
        error={update.error}
        onSubmit={({ name, scopes, mailboxGroups, expiresAt }) =>
          update.mutate(
            { name, scopes, mailboxGroups, ...(expiresAt === undefined ? {} : { expiresAt }) },
            { onSuccess: onClose },
          )
        }
      />
    </Dialog>
  );
}
