import { witnesses } from "../bloom/row";
import { useText } from "../ui/settings";
import { RowAnswer } from "./row_answer";
import type { Mode, RowState } from "./use_row";

interface WordInputProps {
  state: RowState;
  where: Mode;
  placeholder: string;
}

function WordInput({ state, where, placeholder }: WordInputProps) {
  return (
    <input
      id={`${where}-word`}
      value={state.typed[where]}
      placeholder={placeholder}
      autocomplete="off"
      spellcheck={false}
      maxLength={64}
      onInput={(event) => state.type(where, event.currentTarget.value)}
      onFocus={() => state.setMode(where)}
    />
  );
}

/** Words go in here; what a word would do is said while it is typed. */
export function AddForm({ state }: { state: RowState }) {
  const text = useText().learn.row;
  const { row, typed, news } = state;
  const preview = (word: string): string => {
    if (!word) return text.addIdle;
    return row.words.includes(word) ? text.already(word) : text.addPreview(word, witnesses(word, row).length);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    state.addWord(typed.add);
  };
  return (
    <form class="word-form" onSubmit={submit}>
      <label for="add-word">{text.addLabel}</label>
      <div class="joined">
        <WordInput state={state} where="add" placeholder={text.addPlaceholder} />
        <button type="submit">{text.addButton}</button>
      </div>
      <p class="hint" role="status">
        {news || preview(typed.add)}
      </p>
      <div class="small-buttons">
        <button type="button" class="quiet" onClick={state.addAny}>
          {text.random}
        </button>
        <button type="button" class="quiet" onClick={state.empty} disabled={row.words.length === 0}>
          {text.empty}
        </button>
      </div>
    </form>
  );
}

/** Words are asked for here, and answered at every letter. */
export function AskForm({ state }: { state: RowState }) {
  const text = useText().learn.row;
  return (
    <div class="word-form">
      <label for="ask-word">{text.askLabel}</label>
      <WordInput state={state} where="ask" placeholder={text.askPlaceholder} />
      <RowAnswer word={state.typed.ask} row={state.row} />
      <div class="small-buttons">
        <button type="button" class="quiet" onClick={state.fool} disabled={state.row.words.length === 0}>
          {text.fool}
        </button>
      </div>
    </div>
  );
}
