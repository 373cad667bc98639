import { witnesses } from "../bloom/row";
import { useText } from "../ui/settings";
import { WordField, WordForm } from "../ui/word_form";
import { RowAnswer } from "./row_answer";
import type { Mode, RowState } from "./use_row";

/** What the two fields have in common. */
function fieldOf(state: RowState, where: Mode) {
  return {
    id: `${where}-word`,
    value: state.typed[where],
    maxLength: 64,
    onInput: (value: string) => state.type(where, value),
    onFocus: () => state.setMode(where),
  };
}

/** Words go in here; what a word would do is said while it is typed. */
export function AddForm({ state }: { state: RowState }) {
  const text = useText().learn.row;
  const { row, typed, news } = state;
  const preview = (word: string): string => {
    if (!word) return text.addIdle;
    return row.words.includes(word) ? text.already(word) : text.addPreview(word, witnesses(word, row).length);
  };
  return (
    <WordForm
      label={text.addLabel}
      button={text.addButton}
      placeholder={text.addPlaceholder}
      submit={() => state.addWord(typed.add)}
      {...fieldOf(state, "add")}
    >
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
    </WordForm>
  );
}

/** Words are asked for here, and answered at every letter. */
export function AskForm({ state }: { state: RowState }) {
  const text = useText().learn.row;
  return (
    <div class="word-form">
      <label for="ask-word">{text.askLabel}</label>
      <WordField placeholder={text.askPlaceholder} {...fieldOf(state, "ask")} />
      <RowAnswer word={state.typed.ask} row={state.row} idle={text.askIdle} note={state.foolNote} />
      <div class="small-buttons">
        <button type="button" class="quiet" onClick={state.fool} disabled={state.row.words.length === 0}>
          {text.fool}
        </button>
      </div>
    </div>
  );
}
