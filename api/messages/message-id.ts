import Type from 'typebox';
import { idPattern } from '#domain/ids.ts';

export const MessageId = Type.String({ pattern: idPattern('message'), description: 'Message id.' });
