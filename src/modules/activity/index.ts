export { mailMove, mailPipeline, mailRelease } from './project-mails/jobs.ts'
export { mailPullMirror, mailPushMirror } from './project-mails/mirror-jobs.ts'
