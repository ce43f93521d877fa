const packet = (text: string): string => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`

/** The beginning of a push: a new branch, and the first bytes of a pack of as many objects. Git unpacks few, and indexes the pack of many. */
export const beginOfPush = (objects: number): Buffer => {
  const header = Buffer.alloc(12)
  header.write('PACK')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects, 8)
  const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/cut\0 report-status\n`
  return Buffer.concat([Buffer.from(`${packet(command)}0000`), header])
}
