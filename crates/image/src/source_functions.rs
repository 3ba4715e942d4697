//! The functions of a compilation unit, with the blocks and inlined calls in them (DWARF 5, 3.3 and
//! 3.5).
use std::collections::HashMap;

use gimli::{AttributeValue, UnitOffset};

use crate::source_units::{Entry, InlinedCall, Routine, Scope, Source, SourceFunction};
use crate::source_variables::FrameBase;

impl<'a> Source<'a> {
    pub(crate) fn entries(&mut self) -> Result<(), gimli::Error> {
        let unit = self.unit;
        let mut entries = unit.entries();
        let mut depth = 0_isize;
        // The scopes around the current entry, with their depths, below the function.
        let mut around: Vec<(isize, Option<usize>)> = vec![];
        // Types and namespaces around it.
        let mut outer: Vec<(isize, UnitOffset)> = vec![];
        let mut base = FrameBase::Unknown;
        while let Some((step, entry)) = entries.next_dfs()? {
            depth += step;
            while around.last().is_some_and(|(known, _)| *known >= depth) {
                around.pop();
            }
            while outer.last().is_some_and(|(known, _)| *known >= depth) {
                outer.pop();
            }
            self.note_parent(entry, outer.last().map(|&(_, offset)| offset));
            if Self::is_outer(entry.tag()) {
                outer.push((depth, entry.offset()));
            }
            let inside = around.last().copied();
            match (entry.tag(), inside) {
                (gimli::DW_TAG_subprogram, _) => {
                    let mut ranges = self.ranges(entry)?.into_iter();
                    if let Some(first) = ranges.next() {
                        let routine = self.routine(entry.offset())?;
                        base = self.frame_base(entry)?;
                        self.out.functions.push(SourceFunction {
                            start: first.start,
                            routine: routine.unwrap_or_default(),
                            origin: self.reference(entry).map(|UnitOffset(offset)| offset),
                            ..SourceFunction::default()
                        });
                        around.push((depth, None));
                    }
                }
                (gimli::DW_TAG_inlined_subroutine, Some((_, parent))) => {
                    let Some(routine) = self.inlined_routine(entry)? else {
                        continue;
                    };
                    let called = self.place(entry, CALLED)?;
                    let call = Some(InlinedCall { routine, called });
                    let scope = self.scope(entry, parent, call)?;
                    around.push((depth, scope));
                }
                (gimli::DW_TAG_lexical_block, Some((_, parent))) => {
                    let scope = self.scope(entry, parent, None)?;
                    around.push((depth, scope));
                }
                (
                    gimli::DW_TAG_formal_parameter | gimli::DW_TAG_variable,
                    Some((scope_depth, scope)),
                ) if depth == scope_depth + 1 => {
                    let variable = self.variable(entry, base)?;
                    let function = self.out.functions.last_mut();
                    if let (Some(variable), Some(function)) = (variable, function) {
                        match scope {
                            Some(scope) => function.scopes[scope].variables.push(variable),
                            None => function.variables.push(variable),
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn scope(
        &mut self,
        entry: &Entry<'_, 'a>,
        parent: Option<usize>,
        call: Option<InlinedCall>,
    ) -> Result<Option<usize>, gimli::Error> {
        let scope = Scope {
            call,
            parent,
            ranges: self.ranges(entry)?,
            variables: vec![],
            origin: self.reference(entry).map(|UnitOffset(offset)| offset),
        };
        let Some(function) = self.out.functions.last_mut() else {
            return Ok(parent);
        };
        function.scopes.push(scope);
        Ok(Some(function.scopes.len() - 1))
    }

    /// Adds the variables that only the entries have to which functions and scopes add.
    pub(crate) fn inherit(&mut self) -> Result<(), gimli::Error> {
        let mut functions = std::mem::take(&mut self.out.functions);
        for function in &mut functions {
            let scopes = function.scopes.iter_mut();
            let inner = scopes.map(|scope| (scope.origin, &mut scope.variables));
            let all = [(function.origin, &mut function.variables)];
            for (origin, variables) in all.into_iter().chain(inner) {
                if let Some(origin) = origin {
                    let gone = self.gone(UnitOffset(origin), variables)?;
                    variables.extend(gone);
                }
            }
        }
        self.out.functions = functions;
        Ok(())
    }

    /// Types were named by the offsets of their entries, and are by their places from here on.
    pub(crate) fn settle_types(&mut self, known: &HashMap<UnitOffset, usize>) {
        let settle = |of: &mut Option<usize>| {
            *of = of.and_then(|offset| known.get(&UnitOffset(offset)).copied());
        };
        for routine in &mut self.out.inlined {
            settle(&mut routine.result);
        }
        for function in &mut self.out.functions {
            settle(&mut function.routine.result);
            let scopes = function.scopes.iter_mut();
            let inner = scopes.flat_map(|scope| &mut scope.variables);
            for variable in function.variables.iter_mut().chain(inner) {
                settle(&mut variable.type_entry);
            }
        }
    }

    fn inlined_routine(&mut self, entry: &Entry<'_, 'a>) -> Result<Option<usize>, gimli::Error> {
        let Some(origin) = self.reference(entry) else {
            return Ok(None);
        };
        if let Some(&known) = self.routines.get(&origin) {
            return Ok(Some(known));
        }
        let Some(routine) = self.routine(origin)? else {
            return Ok(None);
        };
        let index = self.out.inlined.len();
        self.out.inlined.push(routine);
        self.routines.insert(origin, index);
        Ok(Some(index))
    }

    /// What an entry and those that it adds to say of a function. `None`: it has no name.
    fn routine(&mut self, offset: UnitOffset) -> Result<Option<Routine>, gimli::Error> {
        let mut routine = Routine::default();
        for entry in self.chain(offset)? {
            if routine.name.is_empty()
                && let Some(value) = entry.attr_value(gimli::DW_AT_name)?
            {
                routine.name = self.text(value)?;
            }
            if routine.linkage_name.is_none()
                && let Some(value) = entry.attr_value(gimli::DW_AT_linkage_name)?
            {
                let name = self.text(value)?;
                routine.linkage_name = Some(flick_names::plain(&name).to_owned());
            }
            if routine.declared.is_none() {
                routine.declared = self.declared(&entry)?;
            }
            if routine.result.is_none() {
                routine.result = self.type_of(&entry)?;
            }
            let prototyped = entry.attr_value(gimli::DW_AT_prototyped)?;
            routine.is_prototyped |= prototyped == Some(AttributeValue::Flag(true));
            let external = entry.attr_value(gimli::DW_AT_external)?;
            routine.is_external |= external == Some(AttributeValue::Flag(true));
        }
        let name = routine.linkage_name.as_deref();
        if let Some(name) = name.filter(|_| routine.name.is_empty()) {
            routine.name = flick_names::base_name(name);
        }
        Ok(Some(routine).filter(|routine| !routine.name.is_empty()))
    }
}

const CALLED: [gimli::DwAt; 3] = [
    gimli::DW_AT_call_file,
    gimli::DW_AT_call_line,
    gimli::DW_AT_call_column,
];
