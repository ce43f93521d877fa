export {
  claimKey,
  completeKey,
  findKey,
  type KeyOfCaller,
  type KeyRow,
  leaseSeconds,
  markEffect,
  purposeOf,
  releaseKey,
  renewKey,
  resealAnswers,
  type StoredAnswer,
  tryLockKey,
} from './idempotency-keys/queries.ts'
export { accepted, Message } from './instance/entity.ts'
export { instance } from './instance/subject.ts'
export { type Author, sentBy, sentenceBy } from './mails/author.ts'
export { buildMail, signature } from './mails/build-mail.ts'
export { deliver, delivery } from './mails/jobs.ts'
export { mailOnce } from './mails/once.ts'
export { deleteMailsTo, rememberCauses } from './mails/queries.ts'
export { excerptOf, quoted } from './mails/quote.ts'
export { sendMail, sendMails, sendMailsBy } from './mails/service.ts'
export { type Destination, type GuardRules, guardUrl, pinOf, type Resolve } from './outbound/guard.ts'
export { OutboundFailure, type OutboundResponse, sendOutbound } from './outbound/request.ts'
export { credentialsOf } from './outbound/url.ts'
export { clearFailures, isThrottled, recordFailure, throttleKeys } from './sign-in-throttle/service.ts'
export { putInForce, requireTerms, termsViolation } from './terms/service.ts'
export { apiVersion, productVersion, revision } from './version/version.ts'
