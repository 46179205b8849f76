import type {
  ChangedWebhookEndpoint,
  CheckedWebhookUrl,
  Delivery,
  DeliveryTest,
  DeliveryWithAttempts,
  GetWebhookKeySetQuery,
  GetWebhookStatsQuery,
  ListDeliveriesQuery,
  ListRecoveriesQuery,
  ListWebhooksQuery,
  NewRecovery,
  NewWebhookEndpoint,
  Recovery,
  RotatedSecret,
  SecretRotation,
  SigningKeyRotation,
  WebhookEndpoint,
  WebhookEndpointChanges,
  WebhookEndpointStats,
  WebhookEndpointWithSecret,
  WebhookEventTypeList,
  WebhookKeySet,
  WebhookReceiver,
  WebhookReceiverState,
  WebhookSigningKeys,
  WebhookUrlCheck,
} from '#client/api-types.ts';
import type { CallOptions } from '#client/http.ts';
import type { OperationCall } from '#client/operation-call.ts';
import type { PagedList } from '#client/paged-list.ts';

/** Endpoints of webhooks. */
export class Webhooks {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  list(query: ListWebhooksQuery = {}, options?: CallOptions): PagedList<WebhookEndpoint> {
    return this.#call.list('listWebhooks', [], { query, options });
  }

  /** The answer has the secret, which is shown only once: `verifyWebhook` needs it. */
  create(fields: NewWebhookEndpoint, options?: CallOptions): Promise<WebhookEndpointWithSecret> {
    return this.#call.answer('createWebhook', [], { body: fields, options });
  }

  get(id: string, options?: CallOptions): Promise<WebhookEndpoint> {
    return this.#call.answer('getWebhook', [id], { options });
  }

  /** Omitted fields do not change. */
  update(id: string, changes: WebhookEndpointChanges, options?: CallOptions): Promise<ChangedWebhookEndpoint> {
    return this.#call.answer('updateWebhook', [id], { body: changes, options });
  }

  async delete(id: string, options?: CallOptions): Promise<void> {
    await this.#call.answer('deleteWebhook', [id], { options });
  }

  /** For a time deliveries have a signature of both secrets. */
  rotateSecret(id: string, fields: SecretRotation = {}, options?: CallOptions): Promise<RotatedSecret> {
    return this.#call.answer('rotateWebhookSecret', [id], { body: fields, options });
  }

  /** Lists the public keys with which `verifyWebhook` verifies deliveries to endpoints with `publicKeySignature`. */
  signingKeys(options?: CallOptions): Promise<WebhookSigningKeys> {
    return this.#call.answer('listWebhookSigningKeys', [], { options });
  }

  /** Replaces the key pair for all endpoints. During the overlap, deliveries are signed with both. */
  rotateSigningKey(fields: SigningKeyRotation = {}, options?: CallOptions): Promise<WebhookSigningKeys> {
    return this.#call.answer('rotateWebhookSigningKey', [], { body: fields, options });
  }

  /** Returns the public keys as a JSON Web Key Set. Name the organization, because each has its own keys. */
  keySet(query: GetWebhookKeySetQuery = {}, options?: CallOptions): Promise<WebhookKeySet> {
    return this.#call.answer('getWebhookKeySet', [], { query, options });
  }

  /** Sends an example of an event to it. */
  trigger(id: string, fields: DeliveryTest, options?: CallOptions): Promise<Delivery> {
    return this.#call.answer('testWebhook', [id], { body: fields, options });
  }

  stats(id: string, query: GetWebhookStatsQuery = {}, options?: CallOptions): Promise<WebhookEndpointStats> {
    return this.#call.answer('getWebhookStats', [id], { query, options });
  }

  /** With the schema and an example of each. */
  eventTypes(options?: CallOptions): Promise<WebhookEventTypeList> {
    return this.#call.answer('listEventTypes', [], { options });
  }

  /** Whether an endpoint may have this address. */
  checkUrl(fields: WebhookUrlCheck, options?: CallOptions): Promise<CheckedWebhookUrl> {
    return this.#call.answer('checkWebhookUrl', [], { body: fields, options });
  }

  /** The built-in receiver with its requests. */
  receiver(options?: CallOptions): Promise<WebhookReceiverState> {
    return this.#call.answer('getReceiver', [], { options });
  }

  /** An address of the service itself, to try webhooks with. */
  openReceiver(options?: CallOptions): Promise<WebhookReceiver> {
    return this.#call.answer('openReceiver', [], { options });
  }
}

/** What was sent to an endpoint. */
export class Deliveries {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  /** Newest first. */
  list(endpointId: string, query: ListDeliveriesQuery = {}, options?: CallOptions): PagedList<Delivery> {
    return this.#call.list('listDeliveries', [endpointId], { query, options });
  }

  /** With its attempts. */
  get(endpointId: string, id: string, options?: CallOptions): Promise<DeliveryWithAttempts> {
    return this.#call.answer('getDelivery', [endpointId, id], { options });
  }

  /** Sends a final delivery once more. */
  resend(endpointId: string, id: string, options?: CallOptions): Promise<Delivery> {
    return this.#call.answer('resendDelivery', [endpointId, id], { options });
  }
}

/** Sending the deliveries of an endpoint that were given up again. */
export class Recoveries {
  readonly #call: OperationCall;

  constructor(call: OperationCall) {
    this.#call = call;
  }

  list(endpointId: string, query: ListRecoveriesQuery = {}, options?: CallOptions): PagedList<Recovery> {
    return this.#call.list('listRecoveries', [endpointId], { query, options });
  }

  start(endpointId: string, fields: NewRecovery, options?: CallOptions): Promise<Recovery> {
    return this.#call.answer('recoverDeliveries', [endpointId], { body: fields, options });
  }

  get(endpointId: string, id: string, options?: CallOptions): Promise<Recovery> {
    return this.#call.answer('getRecovery', [endpointId, id], { options });
  }

  pause(endpointId: string, id: string, options?: CallOptions): Promise<Recovery> {
    return this.#call.answer('pauseRecovery', [endpointId, id], { options });
  }

  resume(endpointId: string, id: string, options?: CallOptions): Promise<Recovery> {
    return this.#call.answer('resumeRecovery', [endpointId, id], { options });
  }

  cancel(endpointId: string, id: string, options?: CallOptions): Promise<Recovery> {
    return this.#call.answer('cancelRecovery', [endpointId, id], { options });
  }
}
