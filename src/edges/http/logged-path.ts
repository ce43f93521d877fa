import { splitTarget } from './target.ts'

/** In the URL of an uploaded file, who knows the secret of a public project's file may read it. */
const uploadSecret = /(\/uploads\/)[0-9a-f]{32}(?=\/|$)/g

/** A query whose question mark a client has encoded by mistake. */
const namedSecret = /((?:token|password|secret)(?:=|%3d))[^&/]+/gi

/** The path of a request target as the log has it: without the query, which may contain a token, and without secrets in the path. */
export const loggedPath = (target: string): string =>
  splitTarget(target).path.replace(uploadSecret, '$1[secret]').replace(namedSecret, '$1[secret]')
