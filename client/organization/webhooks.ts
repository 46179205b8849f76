import type { CallOptions } from '#client/http.ts';
import { OperationGroup, type PagedList } from '#client/operation-call.ts';
import type * as Api from '#client/types.ts';

/** Endpoints of webhooks. */
export class Webhooks extends OperationGroup {
  list(query: Api.ListWebhooksQuery = {}, options?: CallOptions): PagedList<Api.WebhookEndpoint> {
    return this.call.list('listWebhooks', [], { query, options });
  }

  /** The answer has the secret, which is shown only once: `verifyWebhook` needs it. */
  create(fields: Api.NewWebhookEndpoint, options?: CallOptions): Promise<Api.WebhookEndpointWithSecret> {
    return this.call.answer('createWebhook', [], { body: fields, options });
  }

  get(id: string, options?: CallOptions): Promise<Api.WebhookEndpoint> {
    return this.call.answer('getWebhook', [id], { options });
  }

  /** Omitted fields do not change. */
  update(id: string, changes: Api.WebhookEndpointChanges, options?: CallOptions): Promise<Api.ChangedWebhookEndpoint> {
    return this.call.answer('updateWebhook', [id], { body: changes, options });
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.call.answer('deleteWebhook', [id], { options });
  }

  /** For a time deliveries have a signature of both secrets. */
  rotateSecret(id: string, fields: Api.SecretRotation = {}, options?: CallOptions): Promise<Api.RotatedSecret> {
    return this.call.answer('rotateWebhookSecret', [id], { body: fields, options });
  }

  /** Lists the public keys with which `verifyWebhook` verifies deliveries to endpoints with `publicKeySignature`. */
  signingKeys(options?: CallOptions): Promise<Api.WebhookSigningKeys> {
    return this.call.answer('listWebhookSigningKeys', [], { options });
  }

  /** Replaces the key pair for all endpoints. During the overlap, deliveries are signed with both. */
  rotateSigningKey(fields: Api.SigningKeyRotation = {}, options?: CallOptions): Promise<Api.WebhookSigningKeys> {
    return this.call.answer('rotateWebhookSigningKey', [], { body: fields, options });
  }

  /** Returns the public keys as a JSON Web Key Set. Name the organization, because each has its own keys. */
  keySet(query: Api.GetWebhookKeySetQuery = {}, options?: CallOptions): Promise<Api.WebhookKeySet> {
    return this.call.answer('getWebhookKeySet', [], { query, options });
  }

  /** Sends an example of an event to it. */
  trigger(id: string, fields: Api.DeliveryTest, options?: CallOptions): Promise<Api.Delivery> {
    return this.call.answer('testWebhook', [id], { body: fields, options });
  }

  stats(id: string, query: Api.GetWebhookStatsQuery = {}, options?: CallOptions): Promise<Api.WebhookEndpointStats> {
    return this.call.answer('getWebhookStats', [id], { query, options });
  }

  /** With the schema and an example of each. */
  eventTypes(options?: CallOptions): Promise<Api.WebhookEventTypeList> {
    return this.call.answer('listEventTypes', [], { options });
  }

  /** Whether an endpoint may have this address. */
  checkUrl(fields: Api.WebhookUrlCheck, options?: CallOptions): Promise<Api.CheckedWebhookUrl> {
    return this.call.answer('checkWebhookUrl', [], { body: fields, options });
  }

  /** The built-in receiver with its requests. */
  receiver(options?: CallOptions): Promise<Api.WebhookReceiverState> {
    return this.call.answer('getReceiver', [], { options });
  }

  /** An address of the service itself, to try webhooks with. */
  openReceiver(options?: CallOptions): Promise<Api.WebhookReceiver> {
    return this.call.answer('openReceiver', [], { options });
  }
}

/** What was sent to an endpoint. */
export class Deliveries extends OperationGroup {
  /** Newest first. */
  list(endpointId: string, query: Api.ListDeliveriesQuery = {}, options?: CallOptions): PagedList<Api.Delivery> {
    return this.call.list('listDeliveries', [endpointId], { query, options });
  }

  /** With its attempts. */
  get(endpointId: string, id: string, options?: CallOptions): Promise<Api.DeliveryWithAttempts> {
    return this.call.answer('getDelivery', [endpointId, id], { options });
  }

  /** Sends a final delivery once more. */
  resend(endpointId: string, id: string, options?: CallOptions): Promise<Api.Delivery> {
    return this.call.answer('resendDelivery', [endpointId, id], { options });
  }
}

/** Sending the deliveries of an endpoint that were given up again. */
export class Recoveries extends OperationGroup {
  list(endpointId: string, query: Api.ListRecoveriesQuery = {}, options?: CallOptions): PagedList<Api.Recovery> {
    return this.call.list('listRecoveries', [endpointId], { query, options });
  }

  start(endpointId: string, fields: Api.NewRecovery, options?: CallOptions): Promise<Api.Recovery> {
    return this.call.answer('recoverDeliveries', [endpointId], { body: fields, options });
  }

  get(endpointId: string, id: string, options?: CallOptions): Promise<Api.Recovery> {
    return this.call.answer('getRecovery', [endpointId, id], { options });
  }

  pause(endpointId: string, id: string, options?: CallOptions): Promise<Api.Recovery> {
    return this.call.answer('pauseRecovery', [endpointId, id], { options });
  }

  resume(endpointId: string, id: string, options?: CallOptions): Promise<Api.Recovery> {
    return this.call.answer('resumeRecovery', [endpointId, id], { options });
  }

  cancel(endpointId: string, id: string, options?: CallOptions): Promise<Api.Recovery> {
    return this.call.answer('cancelRecovery', [endpointId, id], { options });
  }
}
