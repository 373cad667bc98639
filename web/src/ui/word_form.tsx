import type { ComponentChildren } from "preact";

interface WordFieldProps {
  id: string;
  value: string;
  onInput: (value: string) => void;
  onFocus?: () => void;
  placeholder?: string;
  maxLength?: number;
  password?: boolean;
}

/** A field for one word, as it is: a browser changes and suggests nothing. */
export function WordField({ id, value, onInput, onFocus, placeholder, maxLength, password = false }: WordFieldProps) {
  return (
    <input
      id={id}
      type={password ? "password" : "text"}
      value={value}
      placeholder={placeholder}
      maxLength={maxLength}
      autocomplete={password ? "current-password" : "off"}
      autocapitalize="none"
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
      onFocus={onFocus}
    />
  );
}

interface WordFormProps extends WordFieldProps {
  label: string;
  button: string;
  submit: () => void;
  disabled?: boolean;
  /** What belongs to the field and stands below it. */
  children?: ComponentChildren;
}

/** A field for one word, and a button beside it that does something with the word. */
export function WordForm({ label, button, submit, disabled, children, ...field }: WordFormProps) {
  return (
    <form
      class="word-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label for={field.id}>{label}</label>
      <div class="joined">
        <WordField {...field} />
        <button type="submit" disabled={disabled}>
          {button}
        </button>
      </div>
      {children}
    </form>
  );
}
