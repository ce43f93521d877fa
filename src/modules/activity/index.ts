export { mailMove, mailPipeline, mailRelease } from './project-mails/jobs.ts'
