import type { CallOptions } from '#client/http.ts';
import { type Download, OperationGroup, type PagedList } from '#client/operation-call.ts';
import type * as Api from '#client/types.ts';

/** Addresses and domains that mail is accepted from or sent to, or not: `inbound` and `outbound`, `allow` and `block`. */
export class Lists extends OperationGroup {
  inboundAllow(query: Api.ListInboundAllowQuery = {}, options?: CallOptions): PagedList<Api.ListEntry> {
    return this.call.list('listInboundAllow', [], { query, options });
  }

  addInboundAllow(fields: Api.NewListEntry, options?: CallOptions): Promise<Api.ListEntry> {
    return this.call.answer('addInboundAllow', [], { body: fields, options });
  }

  async removeInboundAllow(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('removeInboundAllow', [id], { options });
  }

  inboundBlock(query: Api.ListInboundBlockQuery = {}, options?: CallOptions): PagedList<Api.ListEntry> {
    return this.call.list('listInboundBlock', [], { query, options });
  }

  addInboundBlock(fields: Api.NewListEntry, options?: CallOptions): Promise<Api.ListEntry> {
    return this.call.answer('addInboundBlock', [], { body: fields, options });
  }

  async removeInboundBlock(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('removeInboundBlock', [id], { options });
  }

  outboundAllow(query: Api.ListOutboundAllowQuery = {}, options?: CallOptions): PagedList<Api.ListEntry> {
    return this.call.list('listOutboundAllow', [], { query, options });
  }

  addOutboundAllow(fields: Api.NewListEntry, options?: CallOptions): Promise<Api.ListEntry> {
    return this.call.answer('addOutboundAllow', [], { body: fields, options });
  }

  async removeOutboundAllow(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('removeOutboundAllow', [id], { options });
  }

  outboundBlock(query: Api.ListOutboundBlockQuery = {}, options?: CallOptions): PagedList<Api.ListEntry> {
    return this.call.list('listOutboundBlock', [], { query, options });
  }

  addOutboundBlock(fields: Api.NewListEntry, options?: CallOptions): Promise<Api.ListEntry> {
    return this.call.answer('addOutboundBlock', [], { body: fields, options });
  }

  async removeOutboundBlock(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('removeOutboundBlock', [id], { options });
  }

  /** What the lists say about an address. */
  test(fields: Api.ListTest, options?: CallOptions): Promise<Api.ListVerdict> {
    return this.call.answer('testLists', [], { body: fields, options });
  }
}

/** Approvals given in advance, which end. */
export class StandingApprovals extends OperationGroup {
  list(query: Api.ListStandingApprovalsQuery = {}, options?: CallOptions): PagedList<Api.StandingApproval> {
    return this.call.list('listStandingApprovals', [], { query, options });
  }

  create(fields: Api.NewStandingApproval, options?: CallOptions): Promise<Api.StandingApproval> {
    return this.call.answer('createStandingApproval', [], { body: fields, options });
  }

  async revoke(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('revokeStandingApproval', [id], { options });
  }
}

/** Rules who decides about held messages. */
export class DecisionRules extends OperationGroup {
  list(query: Api.ListDecisionRulesQuery = {}, options?: CallOptions): PagedList<Api.DecisionRule> {
    return this.call.list('listDecisionRules', [], { query, options });
  }

  create(fields: Api.NewDecisionRule, options?: CallOptions): Promise<Api.DecisionRule> {
    return this.call.answer('createDecisionRule', [], { body: fields, options });
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('deleteDecisionRule', [id], { options });
  }
}

/** Addresses that nothing is sent to, because their host refused them for good. */
export class Suppressions extends OperationGroup {
  list(query: Api.ListSuppressionsQuery = {}, options?: CallOptions): PagedList<Api.Suppression> {
    return this.call.list('listSuppressions', [], { query, options });
  }

  async remove(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('removeSuppression', [id], { options });
  }
}

/** Own domains of the organization. */
export class Domains extends OperationGroup {
  list(query: Api.ListDomainsQuery = {}, options?: CallOptions): PagedList<Api.Domain> {
    return this.call.list('listDomains', [], { query, options });
  }

  /** The answer has the DNS records to set. */
  create(fields: Api.NewDomain, options?: CallOptions): Promise<Api.Domain> {
    return this.call.answer('createDomain', [], { body: fields, options });
  }

  get(id: string, options?: CallOptions): Promise<Api.Domain> {
    return this.call.answer('getDomain', [id], { options });
  }

  /** Looks up its DNS records now. */
  verify(id: string, options?: CallOptions): Promise<Api.Domain> {
    return this.call.answer('verifyDomain', [id], { options });
  }

  /** Sets the mailbox that gets mail to unknown addresses; null: it is refused. */
  update(id: string, changes: Api.DomainChanges, options?: CallOptions): Promise<Api.Domain> {
    return this.call.answer('updateDomain', [id], { body: changes, options });
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('deleteDomain', [id], { options });
  }

  /** Of mailboxes that name none. */
  default(options?: CallOptions): Promise<Api.DefaultDomain> {
    return this.call.answer('getDefaultDomain', [], { options });
  }

  /** What other hosts report about mail of the domains. */
  reports(query: Api.GetDomainReportsQuery = {}, options?: CallOptions): Promise<Api.DomainReportList> {
    return this.call.answer('getDomainReports', [], { query, options });
  }
}

/** Requests for consent. A key reads; a decision takes a session, unless the organization allows keys to decide. */
export class Consents extends OperationGroup {
  /** Newest first, unless `order` says otherwise. */
  list(query: Api.ListConsentsQuery = {}, options?: CallOptions): PagedList<Api.Consent> {
    return this.call.list('listConsents', [], { query, options });
  }

  /** How many wait: all, and by mailbox, recipient and reason. */
  summary(query: Api.SummarizeConsentsQuery = {}, options?: CallOptions): Promise<Api.ConsentSummary> {
    return this.call.answer('summarizeConsents', [], { query, options });
  }

  get(id: string, options?: CallOptions): Promise<Api.Consent> {
    return this.call.answer('getConsent', [id], { options });
  }

  /** @param approval its scope, or scope and changes */
  approve(id: string, approval: Api.ConsentScope | Api.ConsentApproval, options?: CallOptions): Promise<Api.Consent> {
    const body = typeof approval === 'string' ? { scope: approval } : approval;
    return this.call.answer('approveConsent', [id], { body, options });
  }

  deny(id: string, reason?: string, options?: CallOptions): Promise<Api.Consent> {
    return this.call.answer('denyConsent', [id], { body: reason === undefined ? {} : { reason }, options });
  }

  /** Takes an approval back while its message waits (`undoUntil`). */
  takeBack(id: string, options?: CallOptions): Promise<Api.Consent> {
    return this.call.answer('takeBackApproval', [id], { options });
  }

  /** Denies those of them that still wait, at most 200. */
  denySeveral(consentIds: readonly string[], reason?: string, options?: CallOptions): Promise<Api.SeveralDenied> {
    const body = { consentIds: [...consentIds], ...(reason === undefined ? {} : { reason }) };
    return this.call.answer('denyConsents', [], { body, options });
  }

  /**
   * Decides about messages that a person was shown together, at most 20, each with the `sha256` of what was shown. Those
   * that changed or were decided meanwhile are left out with the reason.
   */
  decideSeveral(decisions: Api.SeveralDecisions, options?: CallOptions): Promise<Api.SeveralDecided> {
    return this.call.answer('decideConsents', [], { body: decisions, options });
  }

  /** Sends it back: the agent gets the comment and may submit a changed message with `resubmits`. */
  sendBack(id: string, comment: string, options?: CallOptions): Promise<Api.Consent> {
    return this.call.answer('returnConsent', [id], { body: { comment }, options });
  }

  /** The held message, as the person who decides reads it. */
  message(id: string, options?: CallOptions): Promise<Api.ConsentMessage> {
    return this.call.answer('getConsentMessage', [id], { options });
  }

  /** The held message byte for byte. */
  rawMessage(id: string, options?: CallOptions): Promise<Download> {
    return this.call.download('getConsentMessageRaw', [id], options);
  }

  attachment(id: string, attachmentId: string, options?: CallOptions): Promise<Download> {
    return this.call.download('getConsentMessageAttachment', [id, attachmentId], options);
  }
}
