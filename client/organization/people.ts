import type {
  ApiKey,
  ApiKeyChanges,
  ApiKeyWithSecret,
  ChatTest,
  Invitation,
  InvitationWithToken,
  ListInvitationsQuery,
  ListKeysQuery,
  ListMembersQuery,
  ListNoticesQuery,
  Member,
  MemberChanges,
  MemberNotice,
  NewApiKey,
  NewInvitation,
  NoticeSettings,
  NoticeSettingsChange,
  PasswordChange,
  PasswordResetLink,
  Session,
  SessionList,
} from '#client/api-types.ts';
import type { CallOptions } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';

/** Members and invitations. Changes take the session of an admin. */
export class Members {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  list(query: ListMembersQuery = {}, options?: CallOptions): PagedList<Member> {
    return this.#call.list('listMembers', [], { query, options });
  }

  invite(fields: NewInvitation, options?: CallOptions): Promise<InvitationWithToken> {
    return this.#call.answer('inviteMember', [], { body: fields, options });
  }

  update(id: string, changes: MemberChanges, options?: CallOptions): Promise<Member> {
    return this.#call.answer('changeMemberRole', [id], { body: changes, options });
  }

  async remove(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('removeMember', [id], { options });
  }

  /** A link with which the member chooses a new password; for owners. */
  resetPassword(id: string, options?: CallOptions): Promise<PasswordResetLink> {
    return this.#call.answer('resetMemberPassword', [id], { options });
  }

  invitations(query: ListInvitationsQuery = {}, options?: CallOptions): PagedList<Invitation> {
    return this.#call.list('listInvitations', [], { query, options });
  }

  async deleteInvitation(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteInvitation', [id], { options });
  }
}

/** API keys. They take the session of an admin. */
export class Keys {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  list(query: ListKeysQuery = {}, options?: CallOptions): PagedList<ApiKey> {
    return this.#call.list('listKeys', [], { query, options });
  }

  /** The answer has the key, which is shown only once. */
  create(fields: NewApiKey, options?: CallOptions): Promise<ApiKeyWithSecret> {
    return this.#call.answer('createKey', [], { body: fields, options });
  }

  get(id: string, options?: CallOptions): Promise<ApiKey> {
    return this.#call.answer('getKey', [id], { options });
  }

  update(id: string, changes: ApiKeyChanges, options?: CallOptions): Promise<ApiKey> {
    return this.#call.answer('updateKey', [id], { body: changes, options });
  }

  /** Ends it at once. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteKey', [id], { options });
  }
}

/** The sessions of the signed-in person. */
export class Sessions {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  /** Who is signed in, and the organizations. */
  current(options?: CallOptions): Promise<Session> {
    return this.#call.answer('getSession', [], { options });
  }

  list(options?: CallOptions): Promise<SessionList> {
    return this.#call.answer('listSessions', [], { options });
  }

  async end(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('endSession', [id], { options });
  }

  async endOthers(options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteOtherSessions', [], { options });
  }

  /** Ends the session of this client. */
  async signOut(options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteSession', [], { options });
  }

  /** Ends all other sessions. */
  async changePassword(changes: PasswordChange, options?: CallOptions): Promise<void> {
    await this.#call.answer('changePassword', [], { body: changes, options });
  }
}

/** Mail of the service to members. */
export class Notices {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  /** Those of the organization; for admins. */
  list(query: ListNoticesQuery = {}, options?: CallOptions): PagedList<MemberNotice> {
    return this.#call.list('listNotices', [], { query, options });
  }

  /** By which ways the signed-in member is notified. */
  settings(options?: CallOptions): Promise<NoticeSettings> {
    return this.#call.answer('getNoticeSettings', [], { options });
  }

  change(changes: NoticeSettingsChange, options?: CallOptions): Promise<NoticeSettings> {
    return this.#call.answer('putNoticeSettings', [], { body: changes, options });
  }

  testChat(options?: CallOptions): Promise<ChatTest> {
    return this.#call.answer('testChatWebhook', [], { options });
  }
}
