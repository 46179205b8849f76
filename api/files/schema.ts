import Type from 'typebox';
import { closed, dateTime, listOf } from '#api/http/schema-parts.ts';
import { idPattern } from '#domain/ids.ts';
import {
  FILE_LIFE_HOURS,
  FILE_MAX_BYTES,
  FILE_NAME_MAX_CHARACTERS,
  UPLOAD_URL_LIFE_MINUTES,
} from '#domain/mail/file-limits.ts';
import { LINE_OF_MAIL } from '#domain/mail/text-forms.ts';

export const FileId = Type.String({ pattern: idPattern('file'), description: 'Id of an uploaded file.' });

export const OwnFilePath = closed({ fid: FileId });
export const UploadPath = closed({
  upload: Type.String({ minLength: 1, maxLength: 100, description: 'The credential of an upload URL.' }),
});

const filename = Type.String({
  minLength: 1,
  maxLength: FILE_NAME_MAX_CHARACTERS,
  pattern: LINE_OF_MAIL,
  description: 'Name of the file. Default: that of Content-Disposition or of the form.',
});
export const UploadQuery = closed({ filename: Type.Optional(filename) });

export const UploadedFile = closed(
  {
    id: FileId,
    filename: Type.String(),
    contentType: Type.String(),
    sizeBytes: Type.Integer(),
    createdAt: dateTime(),
    expiresAt: dateTime(
      `It is deleted at this time, ${FILE_LIFE_HOURS} hours after its upload. Sent mail keeps its copy.`,
    ),
  },
  { title: 'UploadedFile' },
);
export const UploadedFileList = listOf(UploadedFile, 'UploadedFileList');

export const NewUpload = closed(
  {
    filename: Type.String({ ...filename, description: 'Name of the file.' }),
    contentType: Type.Optional(
      Type.String({
        maxLength: 127,
        pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
        description: 'Default: `application/octet-stream`.',
      }),
    ),
    sizeBytes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: FILE_MAX_BYTES,
        description:
          'Bytes that the upload may have at most. Default: the limit of a file. They are reserved meanwhile.',
      }),
    ),
  },
  { title: 'NewUpload' },
);

export const Upload = closed(
  {
    fileId: { ...FileId, description: 'The file, once it is uploaded.' },
    url: Type.String({
      description: `Send the file's bytes here with one PUT within ${UPLOAD_URL_LIFE_MINUTES} minutes. It needs no other credential and allows nothing but this upload.`,
    }),
    method: Type.Literal('PUT'),
    maxBytes: Type.Integer(),
    expiresAt: dateTime('The URL is valid until this time.'),
  },
  { title: 'Upload' },
);

export const fileExample = {
  id: 'fil_01k8e8f2c0e4x9w2v7a3r5t6y8',
  filename: 'report.pdf',
  contentType: 'application/pdf',
  sizeBytes: 1_482_113,
  createdAt: '2026-11-21T09:20:00.000Z',
  expiresAt: '2026-11-22T09:20:00.000Z',
};
export const newUploadExample = { filename: 'report.pdf', contentType: 'application/pdf' };
export const uploadExample = {
  fileId: fileExample.id,
  url: 'https://mail.example.com/api/uploads/amf_…',
  method: 'PUT' as const,
  maxBytes: FILE_MAX_BYTES,
  expiresAt: '2026-11-21T09:35:00.000Z',
};
