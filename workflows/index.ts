/** Every function exported here is a workflow type; nothing else may be. */
export { deleteHistory } from './delete-history.ts';
export { endpointDelivery } from './endpoint-delivery.ts';
export { eraseContent } from './erase-content.ts';
export { eventFanOut } from './event-fan-out.ts';
export { memberNotice } from './member-notice.ts';
export { moveMailbox } from './move-mailbox.ts';
export { outboundMessage } from './outbound-message.ts';
export { recoverDeliveries } from './recover-deliveries.ts';
