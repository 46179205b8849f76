/** `import { mailboxTools } from '@agent-mailbox/tools'`; the packs are `/ai-sdk`, `/openai-agents` and `/langchain`. */
export { type CallOptions, type MailboxTool, type MailboxToolsOptions, mailboxTools } from './mailbox-tools.ts';
export { TOOL_DEFINITIONS, type ToolName } from './tool-definitions.ts';
