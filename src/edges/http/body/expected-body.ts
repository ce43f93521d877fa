import type { IncomingMessage, ServerResponse } from 'node:http'
import { announcesBody } from './late-body.ts'

/**
 * For a client that waits with the body (`Expect: 100-continue`): tells it to go on when something reads the body. A response that
 * is sent before says that the connection is closed, because such a client may leave the body out or send it.
 * Source: RFC 9110, section 10.1.1.
 */
export function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  if (!announcesBody(req)) return
  const { shouldKeepAlive } = res
  const read = req._read
  res.shouldKeepAlive = false
  req._read = (size) => {
    req._read = read
    if (!res.headersSent) {
      res.shouldKeepAlive = shouldKeepAlive
      res.writeContinue()
    }
    req._read(size)
  }
}
