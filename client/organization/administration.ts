import type { CallOptions } from '#client/http.ts';
import { OperationGroup, type PagedList } from '#client/operation-call.ts';
import type * as Api from '#client/types.ts';

/** The organization of the credential: its settings, and the brakes of its sending. */
export class Organizations extends OperationGroup {
  get(options?: CallOptions): Promise<Api.Organization> {
    return this.call.answer('getOrganization', [], { options });
  }

  /** For admins. The settings include the stop of all sending. */
  update(changes: Api.OrganizationChanges, options?: CallOptions): Promise<Api.Organization> {
    return this.call.answer('updateOrganization', [], { body: changes, options });
  }

  /** What is stopped, and who may end it. */
  sending(options?: CallOptions): Promise<Api.OrganizationSending> {
    return this.call.answer('getOrganizationSending', [], { options });
  }

  usage(query: Api.GetUsageQuery = {}, options?: CallOptions): Promise<Api.Usage> {
    return this.call.answer('getUsage', [], { query, options });
  }

  /** Who did what; newest first. */
  audit(query: Api.ListAuditQuery = {}, options?: CallOptions): PagedList<Api.AuditEntry> {
    return this.call.list('listAudit', [], { query, options });
  }

  /** The timeline of a message, an address, an event; for signed-in members. */
  activity(query: Api.FindActivityQuery, options?: CallOptions): Promise<Api.ActivityResult> {
    return this.call.answer('findActivity', [], { query, options });
  }
}

/** Members and invitations. Changes take the session of an admin. */
export class Members extends OperationGroup {
  list(query: Api.ListMembersQuery = {}, options?: CallOptions): PagedList<Api.Member> {
    return this.call.list('listMembers', [], { query, options });
  }

  invite(fields: Api.NewInvitation, options?: CallOptions): Promise<Api.InvitationWithToken> {
    return this.call.answer('inviteMember', [], { body: fields, options });
  }

  update(id: string, changes: Api.MemberChanges, options?: CallOptions): Promise<Api.Member> {
    return this.call.answer('changeMemberRole', [id], { body: changes, options });
  }

  async remove(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('removeMember', [id], { options });
  }

  /** A link with which the member chooses a new password; for owners. */
  resetPassword(id: string, options?: CallOptions): Promise<Api.PasswordResetLink> {
    return this.call.answer('resetMemberPassword', [id], { options });
  }

  /** For a member who has lost the device and the recovery codes; for admins and owners. */
  async resetSecondFactor(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('resetMemberSecondFactor', [id], { options });
  }

  invitations(query: Api.ListInvitationsQuery = {}, options?: CallOptions): PagedList<Api.Invitation> {
    return this.call.list('listInvitations', [], { query, options });
  }

  async deleteInvitation(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('deleteInvitation', [id], { options });
  }
}

/** API keys. They take the session of an admin. */
export class Keys extends OperationGroup {
  list(query: Api.ListKeysQuery = {}, options?: CallOptions): PagedList<Api.ApiKey> {
    return this.call.list('listKeys', [], { query, options });
  }

  /** The answer has the key, which is shown only once. */
  create(fields: Api.NewApiKey, options?: CallOptions): Promise<Api.ApiKeyWithSecret> {
    return this.call.answer('createKey', [], { body: fields, options });
  }

  get(id: string, options?: CallOptions): Promise<Api.ApiKey> {
    return this.call.answer('getKey', [id], { options });
  }

  update(id: string, changes: Api.ApiKeyChanges, options?: CallOptions): Promise<Api.ApiKey> {
    return this.call.answer('updateKey', [id], { body: changes, options });
  }

  /** Ends it at once. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('deleteKey', [id], { options });
  }
}

/** The sessions of the signed-in person. */
export class Sessions extends OperationGroup {
  /** Who is signed in, and the organizations. */
  current(options?: CallOptions): Promise<Api.Session> {
    return this.call.answer('getSession', [], { options });
  }

  list(options?: CallOptions): Promise<Api.SessionList> {
    return this.call.answer('listSessions', [], { options });
  }

  async end(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('endSession', [id], { options });
  }

  async endOthers(options?: CallOptions): Promise<void> {
    await this.call.answer('deleteOtherSessions', [], { options });
  }

  /** Ends the session of this client. */
  async signOut(options?: CallOptions): Promise<void> {
    await this.call.answer('deleteSession', [], { options });
  }

  /** Ends all other sessions. */
  async changePassword(changes: Api.PasswordChange, options?: CallOptions): Promise<void> {
    await this.call.answer('changePassword', [], { body: changes, options });
  }
}

/** Who decides for the signed-in member, for a time. */
export class Deputies extends OperationGroup {
  get(options?: CallOptions): Promise<Api.DeputyOfMember> {
    return this.call.answer('getDeputy', [], { options });
  }

  name(deputy: Api.DeputyChange, options?: CallOptions): Promise<Api.DeputyOfMember> {
    return this.call.answer('putDeputy', [], { body: deputy, options });
  }
}

/** Mail of the service to members. */
export class Notices extends OperationGroup {
  /** Those of the organization; for admins. */
  list(query: Api.ListNoticesQuery = {}, options?: CallOptions): PagedList<Api.MemberNotice> {
    return this.call.list('listNotices', [], { query, options });
  }

  /** By which ways the signed-in member is notified. */
  settings(options?: CallOptions): Promise<Api.NoticeSettings> {
    return this.call.answer('getNoticeSettings', [], { options });
  }

  change(changes: Api.NoticeSettingsChange, options?: CallOptions): Promise<Api.NoticeSettings> {
    return this.call.answer('putNoticeSettings', [], { body: changes, options });
  }

  testChat(options?: CallOptions): Promise<Api.ChatTest> {
    return this.call.answer('testChatWebhook', [], { options });
  }
}
