import type { IncomingMessage, ServerResponse } from 'node:http'
import { announcesBody } from './source.ts'

/**
 * For a client that waits with the body (`Expect: 100-continue`): sends `100 Continue` when something reads the body. An earlier response
 * closes the connection, because such a client may leave the body out or send it.
 * Source: RFC 9110, section 10.1.1.
 */
export function continueWhenRead(req: IncomingMessage, res: ServerResponse): void {
  if (!announcesBody(req.headers)) return
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
