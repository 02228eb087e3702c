import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { BudgetItem, BudgetWrite } from '../../lib/pace/budget.ts';
import {
  type BudgetUpdate,
  budgetOf,
  capUpdate,
  lowerUpdate,
  pauseUpdate,
  RESUME_UPDATE,
  reserveUpdate,
  resetUpdate,
  toUpdateInput,
} from '../../lib/pace/budget-updates.ts';

type Item = Readonly<Record<string, AttributeValue>>;

/** The parts of a clause, such as `#a = #a + :b`, `#a` and `#a :b`. */
const CHANGE = /^(#\w+)(?:( = | )([#:]\w+)(?: \+ (:\w+))?)?$/;

/** The value of a name or placeholder in an expression; undefined for an attribute that the item does not have. */
type NumberOf = (term: string) => number | undefined;

/** The budget of a fleet in this process's memory, whose item is changed by the very updates that DynamoDB gets. */
export function createBudgetByUpdates(): BudgetItem {
  let item: Item | undefined;

  const make = (update: BudgetUpdate): BudgetWrite => {
    const { UpdateExpression = '', ConditionExpression, ...given } = toUpdateInput(update);
    const used = `${UpdateExpression} ${ConditionExpression}`.match(/[#:]\w+/g) ?? [];
    const defined = { ...given.ExpressionAttributeNames, ...given.ExpressionAttributeValues };
    if (Object.keys(defined).toSorted().join() !== [...new Set(used)].toSorted().join())
      throw new TypeError(
        `expected the names and values of '${UpdateExpression}', got ${Object.keys(defined)}`,
      );
    const numberOf: NumberOf = (term) => {
      const name = given.ExpressionAttributeNames?.[term];
      const value = name === undefined ? given.ExpressionAttributeValues?.[term] : item?.[name];
      return value?.N === undefined ? undefined : Number(value.N);
    };
    if (ConditionExpression !== undefined && !holds(ConditionExpression, numberOf))
      return { kind: 'refused' };
    item = Object.fromEntries([...Object.entries(item ?? {}), ...changes(UpdateExpression, numberOf)]);
    return { kind: 'written', budget: budgetOf(item) };
  };
  const always = async (update: BudgetUpdate) => {
    make(update);
    return budgetOf(item);
  };

  return {
    read: async () => budgetOf(item),
    reserve: async (reservation) => make(reserveUpdate(reservation)),
    lower: async (incident) => make(lowerUpdate(incident)),
    pause: (atMs) => always(pauseUpdate(atMs)),
    resume: () => always(RESUME_UPDATE),
    reset: (fromMs) => always(resetUpdate(fromMs)),
    cap: (rate) => always(capUpdate(rate)),
  };
}

/** Conditions joined by `AND`, each of which may be several in parentheses joined by `OR`. */
const holds = (condition: string, numberOf: NumberOf): boolean =>
  condition
    .split(' AND ')
    .every((part) => part.split(' OR ').some((one) => holdsOne(one.replace(/^\(/, ''), numberOf)));

function holdsOne(condition: string, numberOf: NumberOf): boolean {
  const [, negation, name = ''] = /^attribute_(not_)?exists\((#\w+)\)/.exec(condition) ?? [];
  if (name !== '') return (numberOf(name) === undefined) === (negation !== undefined);
  const [, left = '', sign, right = ''] = /^(#\w+) (=|<=?|>=?) (:\w+)\)?$/.exec(condition) ?? [];
  const [a, b] = [numberOf(left), numberOf(right)];
  if (b === undefined) throw new TypeError(`expected a condition, got '${condition}'`);
  if (a === undefined) return false;
  if (a === b) return sign === '=' || sign === '<=' || sign === '>=';
  return a < b ? sign === '<' || sign === '<=' : sign === '>' || sign === '>=';
}

/** The attributes that an update sets, removes and adds to. */
function changes(update: string, numberOf: NumberOf): readonly (readonly [string, AttributeValue])[] {
  const clauses = update.split(/(?=\b(?:SET|REMOVE|ADD) )/).map((clause) => clause.trim());
  return clauses.flatMap((clause) => {
    const [act] = clause.split(' ');
    const terms = clause.slice((act ?? '').length + 1).split(', ');
    return terms.map((term) => {
      const [, name, , ...rest] = CHANGE.exec(term) ?? [];
      if (name === undefined) throw new TypeError(`expected a change, got '${term}'`);
      const given = rest.filter((each) => each !== undefined);
      const sum = [...(act === 'ADD' ? [name] : []), ...given].map((each) => numberOf(each) ?? 0);
      const exact = Math.round(sum.reduce((a, b) => a + b, 0) * 1000) / 1000;
      return [name.slice(1), act === 'REMOVE' ? { NULL: true } : { N: String(exact) }] as const;
    });
  });
}
