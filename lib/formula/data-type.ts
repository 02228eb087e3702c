/** The type of the values of a calculation or a column. A truth value is a LONG; a time of day is a STRING. */
export type DataType = 'STRING' | 'LONG' | 'DECIMAL' | 'DOUBLE' | 'DATE' | 'DATETIME';

/** Types of columns by name, without backticks. */
export type ColumnTypes = ReadonlyMap<string, DataType>;
