declare module 'commonmark-spec' {
  const specification: {
    /** Tabs are written as `→`. */
    readonly tests: readonly {
      readonly number: number
      readonly section: string
      readonly markdown: string
      readonly html: string
    }[]
  }
  export default specification
}
