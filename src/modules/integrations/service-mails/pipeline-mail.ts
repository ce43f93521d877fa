import { messageOf } from '../chat/message.ts'
import { plainLine } from '../chat/text.ts'

type Fields = Readonly<Record<string, any>>

/** Subject and paragraphs of the mail about a pipeline that passed or failed. */
export function pipelineMail(payload: Fields): { subject: string; paragraphs: readonly string[] } {
  const { id, ref, status } = payload['object_attributes']
  const { project } = payload
  const { summary, details } = messageOf(payload)
  return {
    subject: `${project.path_with_namespace}: pipeline #${id} of ${ref} ${status === 'success' ? 'passed' : 'failed'}`,
    paragraphs: [plainLine(summary), ...details.map(plainLine), `${project.web_url}/-/pipelines/${id}`],
  }
}
