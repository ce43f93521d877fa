import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { File, Params } from '../../../api/params/types.ts'
import { project } from '../projects/subject.ts'
import { NoUpload, Upload } from './entity.ts'
import { storeUpload } from './service.ts'

const mebibyte = 1024 * 1024

export const uploadRoutes = [
  endpoint({
    method: 'POST',
    path: '/projects/:id/uploads',
    summary: 'Upload a file',
    description: 'Returns Markdown that links to the file from a text of the project.',
    subject: project,
    allow: 'upload_file',
    params: Params({ file: File({ description: 'File to store' }) }),
    // Reads more than can be stored, so that the response is the error that clients expect.
    fileLimit: ({ max_attachment_size }) => Math.max(100, max_attachment_size) * mebibyte,
    returns: variants(Upload, NoUpload),
    async handle({ subject, params, ctx }) {
      const stored = await storeUpload(ctx, subject, params.file)
      return stored ? as(Upload, stored) : as(NoUpload, null)
    },
  }),
]
